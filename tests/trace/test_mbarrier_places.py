"""What happens at an mbarrier has a place of its own at its site (docs/machine.md, section 10)."""

import io

import pytest
from rich.console import Console

from simtmm import lower, simulate
from simtmm.machine import load_machine
from simtmm.report.stalls import at_mbarriers, by_mbarrier
from simtmm.stalls import Reason
from simtmm.trace import site_tables
from simtmm.workload import (
    ACTION_SHIFT,
    ARRIVE,
    AWAIT,
    COMPLETE,
    EXPECT,
    INIT,
    MBARRIER,
    MEET,
    NUMBER_SHIFT,
)
from tests.trace.build import trace, work
from tests.trace.test_compiled import site

FULL, EMPTY = 0x400, 0x408  # bytes of shared memory
SITES = [site(1, "mbarrier"), site(2, "mbarrier"), site(3, "copy"), site(4, "work")]


def at(number, action, count, of=1):
    return of, "mbarrier", action << ACTION_SHIFT | number << NUMBER_SHIFT | count, 0


def kernel(mbarriers):
    """A warp that copies for another, by two mbarriers; provenance as recorders write it."""
    producer = [
        at(FULL, INIT, 1), at(EMPTY, INIT, 1), *[work(4, 9)] * 3,
        at(FULL, EXPECT, 64), at(FULL, ARRIVE, 1), (3, "copy", 0, 64), at(FULL, COMPLETE, 64),
        at(EMPTY, AWAIT, 0, of=2),
    ]  # fmt: skip
    consumer = [work(4, 40), at(FULL, AWAIT, 0, of=2), work(4, 500), at(EMPTY, ARRIVE, 1)]
    threads = [producer, *[[work(4, 1)]] * 31, consumer, *[[work(4, 1)]] * 31]
    return trace([threads], sites=SITES, provenance={"mbarriers": mbarriers} if mbarriers else {})


def placed(mbarriers):
    return lower(kernel(mbarriers), load_machine("h100-sxm"), places=True)


def names(workload):
    """Of each operation at an mbarrier, the name of what it is at."""
    return [workload.places.place(number)[1] for number in workload.place[workload.kind == MBARRIER].tolist()]


def test_each_mbarrier_has_its_own_places_and_others_those_of_their_sites():
    full, empty = "mbarrier 0x400", "mbarrier 0x408"
    order = [full, empty, full, full, full, empty, full, empty]
    assert names(placed([FULL, EMPTY])) == order
    assert names(placed([EMPTY])) == [name if name == empty else "" for name in order]
    assert set(names(placed([]))) == {""}


def test_what_is_at_them_is_the_same_and_takes_as_long():
    with_places, without = placed([FULL, EMPTY]), placed([])
    assert with_places == without
    assert [*with_places.places.sites] == [*without.places.sites]


@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_waits_are_told_by_the_mbarrier_and_its_reasons(engine):
    stalls = simulate(load_machine("h100-sxm"), placed([FULL, EMPTY]), engine, stalls=True).stalls
    full, empty = at_mbarriers(stalls)
    assert (full.name, empty.name) == ("mbarrier 0x400", "mbarrier 0x408")
    assert full.lines == empty.lines == ("k.cu:2",)
    assert full.ticks[Reason.COPIES] > 0
    assert full.ticks[[Reason.CONSUMER, Reason.MBARRIER]].sum() == 0
    # Part of it the consumer itself waits for the copy, and that is what is told.
    assert empty.ticks[[Reason.CONSUMER, Reason.COPIES]].sum() == empty.ticks.sum()
    assert empty.ticks[Reason.CONSUMER] > empty.ticks[Reason.COPIES] > 0
    of_arrays = {row["array"]: row["ticks"] for row in stalls.summed("array")}
    assert of_arrays["mbarrier 0x408"] == empty.ticks.sum()
    stream = io.StringIO()
    Console(file=stream, width=160).print(by_mbarrier([full, empty]))
    told = stream.getvalue()
    assert "mbarrier 0x400" in told
    assert "consumer 64 %, copies in bulk 36 %   k.cu:2" in told


def test_where_a_trace_has_too_many_places_mbarriers_share_those_of_their_sites(monkeypatch):
    monkeypatch.setattr(site_tables, "MOST_PLACES", 20)
    assert set(names(placed([FULL, EMPTY]))) == {""}


def test_meetings_of_some_warps_are_at_no_mbarrier():
    threads = [[(1, "mbarrier", MEET << ACTION_SHIFT | FULL << NUMBER_SHIFT | 1, 0)]]
    workload = lower(
        trace([threads], sites=SITES, provenance={"mbarriers": [FULL]}), load_machine("h100-sxm"), places=True
    )
    assert names(workload) == [""]
