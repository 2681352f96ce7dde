"""Bytes that blocks of a cluster bring one another (docs/machine.md, sections 3 and 4): copies to several blocks, which
come into each one's group by its own path; the banks that copies are written by; stores that mbarriers count.
"""

import pytest

from simtmm import Machine, Workload, simulate
from simtmm.engine import ENGINES
from simtmm.stalls import Reason

pytestmark = pytest.mark.parametrize("engine", ENGINES)

LATENCY, L2_LATENCY, FILLS, REMOTE = 100, 40, 7, 11
CHUNK = 128  # bytes, and those of a pass over the banks


def machine(pipe=None, banks=None, **memory):
    """A group of four ports whose loads come in one after another."""
    pipe = {"fill_interval": FILLS, **(pipe or {})}
    return Machine.from_dict(
        {
            "name": "m",
            "cores": {
                "groups": 1, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 8, "issue_ports": 4,
            },
            "scheduling": {"cluster_latency": REMOTE},
            "memory": {"latency": LATENCY, "chunk_words": 32, "pipe": pipe, **memory},
            "banks": banks or {},
        }
    )  # fmt: skip


def waits(engine, given, expected, *acts):
    """When a warp goes on that waits for so many bytes, which one of its block brings; and what it waited for."""
    begin = [["mbarrier", "init", 0, 1], ["mbarrier", "expect", 0, expected], ["mbarrier", "arrive", 0, 1]]
    blocks = [{"warps": [[*begin, *acts], [["mbarrier", "wait", 0, 0], ["pause", 1000]]]}]
    result = simulate(given, Workload.from_dict({"blocks": blocks}), engine, stalls=True)
    ticks = result.stalls.ticks.sum(axis=0)
    return result.ticks - 1000 - 1, {reason.name.lower(): int(ticks[reason]) for reason in Reason if ticks[reason]}


def brought(count, *remote):
    return ["mbarrier", "complete-multicast", 0, count, *remote]


COPY = ["copy", [0, 1]]


def test_what_a_copy_brings_its_own_block_comes_with_it(engine):
    alone = waits(engine, machine(), 2 * CHUNK, COPY, brought(2 * CHUNK))
    assert alone[0] == 1 + FILLS + LATENCY
    assert alone == waits(engine, machine(), 2 * CHUNK, COPY, ["mbarrier", "complete", 0, 2 * CHUNK])


@pytest.mark.parametrize("others", [1, 3])
def test_what_it_brings_other_blocks_stands_for_what_theirs_bring_which_comes_in_behind_it(engine, others):
    acts = [COPY, brought(2 * CHUNK), *[brought(2 * CHUNK, 1)] * others]
    ticks, reasons = waits(engine, machine(), 2 * CHUNK * (1 + others), *acts)
    last = 1 + FILLS * (2 * (1 + others) - 1)  # of its own chunks and the others', the last begins to come in here
    assert ticks == last + LATENCY
    assert reasons["port_queue"] == last - 1


def test_the_order_in_which_blocks_are_told_does_not_matter(engine):
    first = waits(engine, machine(), 4 * CHUNK, COPY, brought(2 * CHUNK), brought(2 * CHUNK, 1))
    assert waits(engine, machine(), 4 * CHUNK, COPY, brought(2 * CHUNK, 1), brought(2 * CHUNK)) == first


def test_the_l2_is_read_once_and_the_others_bytes_are_there_its_latency_later(engine):
    cached = machine(l2={"sets": 64, "ways": 1, "latency": L2_LATENCY, "service": 90})
    acts = [COPY, brought(2 * CHUNK), brought(2 * CHUNK, 1)]
    twice = [["copy", [0, 1]], ["pause", 300], *acts]  # so that the L2 has it, and its slice is free
    base = 2 + 300
    ticks, _ = waits(engine, cached, 4 * CHUNK, *twice)
    assert ticks == base + 90 + L2_LATENCY  # the slice is slower than the path
    slow = machine({"fill_interval": 70}, l2={"sets": 64, "ways": 1, "latency": L2_LATENCY, "service": 90})
    assert waits(engine, slow, 4 * CHUNK, *twice)[0] == base + 3 * 70 + L2_LATENCY


def test_parts_of_chunks_come_in_as_whole_ones(engine):
    for count, chunks in ((1, 1), (CHUNK, 1), (CHUNK + 1, 2)):
        acts = [COPY, brought(2 * CHUNK), brought(count, 1)]
        assert waits(engine, machine(), 2 * CHUNK + count, *acts)[0] == 1 + FILLS * (1 + chunks) + LATENCY


def test_loads_come_in_behind_what_others_bring(engine):
    acts = [COPY, brought(2 * CHUNK), brought(6 * CHUNK, 1), ["load", [9]]]
    blocks = [{"warps": [[["mbarrier", "init", 0, 1], ["mbarrier", "expect", 0, 8 * CHUNK], *acts]]}]
    ticks = simulate(machine(), Workload.from_dict({"blocks": blocks}), engine).ticks
    assert ticks == 1 + FILLS * 8 + LATENCY


def test_without_a_pipe_nothing_comes_in_for_others(engine):
    plain = Machine.from_dict(
        {
            "name": "m",
            "cores": {"groups": 1, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 8},
            "scheduling": {"cluster_latency": REMOTE},
            "memory": {"latency": LATENCY, "chunk_words": 32, "port_interval": FILLS},
        }
    )
    acts = [COPY, brought(2 * CHUNK), brought(9 * CHUNK, 1)]
    assert waits(engine, plain, 11 * CHUNK, *acts)[0] == 1 + FILLS + LATENCY


@pytest.mark.parametrize("shared", ["together", "apart"])
def test_what_copies_bring_is_written_by_the_banks_that_shared_accesses_pass(engine, shared):
    given = machine({"shared": shared}, {"service": 3, "latency": 20})

    def settles(*acts):
        """When a shared access settles that a warp issues with these."""
        begin = [["mbarrier", "init", 0, 1], ["mbarrier", "expect", 0, 64 * CHUNK]]
        blocks = [{"warps": [[*begin, *acts, ["shared", 1], ["settle"], ["pause", 1000]]]}]
        return simulate(given, Workload.from_dict({"blocks": blocks}), engine).ticks - 1000

    assert settles() == 1 + 20
    assert settles(COPY) == 1 + 2 * 3 + 20
    assert settles(COPY, brought(5 * CHUNK, 1)) == 1 + 7 * 3 + 20
    assert settles(COPY, brought(5 * CHUNK)) == settles(COPY)


def test_of_a_chunk_only_the_sectors_that_are_copied_are_written(engine):
    given = machine(None, {"service": 3, "latency": 20, "count": 8}, sectors=4)  # 32 bytes a pass, a sector
    for sectors, passes in (([32, 32, 32, 32], 4), ([32, 0, 0, 4], 2)):
        acts = [["copy", [0], 1, [sectors]], ["shared", 1], ["settle"], ["pause", 1000]]
        ticks = simulate(given, Workload.from_dict({"blocks": [{"warps": [acts]}]}), engine).ticks
        assert ticks == 1 + passes * 3 + 20 + 1000


@pytest.mark.parametrize("passes", [1, 5])
def test_bytes_of_a_store_to_another_block_are_there_when_the_way_is_free_behind_them(engine, passes):
    """As a compiled st.async is: an access, the way there, and what the mbarrier is told."""
    given = machine(None, {"remote_interval": 13})
    acts = [["shared", passes], ["remote", passes], ["mbarrier", "complete", 0, CHUNK, 1]]
    assert waits(engine, given, CHUNK, *acts)[0] == 1 + 13 * passes + REMOTE
    copied = [*acts[:2], COPY, ["mbarrier", "complete", 0, CHUNK, 1]]
    assert waits(engine, given, CHUNK, *copied)[0] == 2 + FILLS + LATENCY
