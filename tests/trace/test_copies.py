"""What a lane copies in bulk is one operation, up to 256 chunks of it, wherever the room for operations ends."""

import pytest

from simtmm import lower, simulate
from simtmm.machine import load_machine
from simtmm.trace.lower import lower_or_stream
from simtmm.trace.warps import lowering as lowering_of_warps
from simtmm.trace.warps import windows
from simtmm.trace.warps.walk import MOST_OPERATIONS
from simtmm.workload import COPY
from tests.trace.build import trace, work
from tests.trace.test_compiled import site

CHUNK = 128
SITES = [site(1, "copy"), site(2, "work"), site(3, "copy")]
COPIES = 40


def copies(chunks):
    """A lane that copies so many chunks 40 times, other work between them."""
    events = []
    for copy in range(COPIES):
        first = copy * chunks
        events += [(1, "copy", (first + chunk) * CHUNK, CHUNK) for chunk in range(chunks)]
        events.append(work(2, 1 + copy % 3))
    return trace([[events]], sites=SITES)


def listed(workload):
    """Chunks that each copy lists."""
    return (workload.amount[workload.kind == COPY]).tolist()


@pytest.fixture
def little_room(monkeypatch):
    """For so few operations and chunks that it ends within most copies, both where all are held and in windows."""
    monkeypatch.setattr(windows, "ALL_OPERATIONS", 1)
    monkeypatch.setattr(windows, "FEWEST", MOST_OPERATIONS + 1)
    monkeypatch.setattr(lowering_of_warps, "FIRST_ROOM", 1)
    monkeypatch.setattr(lowering_of_warps, "MOST_ROOM", 1)


@pytest.mark.parametrize(("chunks", "parts"), [(1, [1]), (100, [100]), (256, [256]), (600, [256, 256, 88])])
def test_a_copy_is_one_operation_wherever_room_ends(little_room, chunks, parts):
    h100 = load_machine("h100-sxm")
    one = copies(chunks)
    held = lower(one, h100)
    assert listed(held) == parts * COPIES
    stream, _ = lower_or_stream(one, h100, most_held=0)
    assert stream.operations == held.operations
    assert simulate(h100, stream, "fast") == simulate(h100, held, "fast")


def test_copies_of_two_places_are_two_operations(little_room):
    h100 = load_machine("h100-sxm")
    events = [(1 if chunk % 4 < 2 else 3, "copy", chunk * CHUNK, CHUNK) for chunk in range(2_000)]
    one = trace([[events]], sites=SITES)
    held = lower(one, h100, places=True)
    assert listed(held) == [2] * 1_000
    stream, _ = lower_or_stream(one, h100, most_held=0, places=True)
    assert simulate(h100, stream, "fast", stalls=True) == simulate(h100, held, "fast", stalls=True)
