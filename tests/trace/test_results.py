"""Results that scoreboards tell of, and registers of one bank, as lowering has them (docs/machine.md, section 9)."""

import dataclasses

import pytest

from simtmm import lower, simulate
from simtmm.trace.schema import TraceSite
from tests.trace.build import barrier, shared, store, trace, work
from tests.trace.test_compiled import lowered, site
from tests.trace.test_lower import machine

SPECIAL, SHUFFLE = 17, 24
LATENCIES = {"results.special": SPECIAL, "results.shuffle": SHUFFLE}
USES = site(9, "store", needs=(0,))


def giving(number, *results, kind="work", instructions=1, stall=0, needs=()):
    """A site whose work gives values: (class, value, cycles to its end) of each."""
    said = site(number, kind, work=[("special", instructions)], needs=needs)
    return dataclasses.replace(said, results=results, stall=stall)


def reading(number, cycles, instructions=4, stall=0):
    """A site whose instructions of fp32 take so many cycles more to read their registers."""
    said = site(number, "work", work=[("fp32", instructions)])
    return dataclasses.replace(said, operand_cycles=(("fp32", cycles),), stall=stall)


def done(*events, sites, **keys):
    """What a warp of a thread does."""
    (warp,) = lowered([[*events]], sites, **{**LATENCIES, **keys})
    return warp


@pytest.mark.parametrize(("name", "latency"), [("special", SPECIAL), ("shuffle", SHUFFLE), ("tensor", 0)])
def test_who_needs_a_result_waits_from_its_instruction_on_as_long_as_its_class_takes(name, latency):
    pause = [["pause", latency - 1]] if latency else []
    sites = [giving(0, (name, 0, 1)), USES]
    assert done(work(0, 1), store(9, 0), sites=sites) == [["compute", 1], *pause, ["store", [0]]]


def test_without_a_latency_it_is_there_at_once():
    (warp,) = lowered([[work(0, 1), store(9, 0)]], [giving(0, ("special", 0, 1)), USES])
    assert warp == [["compute", 1], ["store", [0]]]


@pytest.mark.parametrize("behind", [1, 5, SPECIAL - 1, SPECIAL, 100])
def test_what_its_own_site_does_behind_it_counts(behind):
    sites = [giving(0, ("special", 0, behind), instructions=behind), USES]
    pause = [["pause", SPECIAL - behind]] if behind < SPECIAL else []
    assert done(work(0, 1), store(9, 0), sites=sites) == [["compute", behind], *pause, ["store", [0]]]


@pytest.mark.parametrize("between", [1, 15, 16, 400])
def test_instructions_between_count(between):
    pause = [["pause", SPECIAL - 1 - between]] if between < SPECIAL - 1 else []
    found = done(work(0, 1), work(1, between), store(9, 0), sites=[giving(0, ("special", 0, 1)), USES])
    assert found == [["compute", 1 + between], *pause, ["store", [0]]]


def test_several_are_under_way_at_once():
    sites = [
        giving(0, ("special", 0, 1)), giving(1, ("special", 1, 1)), giving(2, needs=(0,)), site(9, "store", needs=(1,)),
    ]  # fmt: skip
    found = done(work(0, 1), work(1, 1), work(2, 1), store(9, 0), sites=sites)
    assert found == [["compute", 2], ["pause", SPECIAL - 2], ["compute", 1], ["store", [0]]]


def test_the_later_of_a_function_and_a_load_of_shared_memory_is_waited_for():
    read = site(1, "shared_load", gives=(1,))
    both = site(9, "store", needs=(0, 1))
    for latency, left in ((5, SPECIAL - 2), (30, 30)):
        found = done(
            work(0, 1), shared(1, 0), store(9, 0), sites=[giving(0, ("special", 0, 1)), read, both],
            **{"banks.latency": latency},
        )  # fmt: skip
        assert found == [["compute", 1], ["shared", 1], ["pause", left], ["store", [0]]]


def test_where_shared_accesses_pass_a_pipe_results_are_waited_for_likewise():
    found = done(
        work(0, 1), shared(1, 0), store(9, 0), sites=[giving(0, ("special", 0, 1)), USES],
        **{"memory.pipe.interval": 1, "memory.port_interval": 0},
    )  # fmt: skip
    assert found == [["compute", 1], ["shared", 1], ["pause", SPECIAL - 2], ["store", [0]]]


def test_a_barrier_s_site_gives_and_needs():
    sites = [giving(0, ("special", 0, 1)), giving(1, ("special", 1, 1), kind="barrier", needs=(0,))]
    found = done(work(0, 1), barrier(1), store(9, 0), sites=[*sites, site(9, "store", needs=(1,))])
    rest = [["compute", 1], ["barrier"], ["pause", SPECIAL - 1], ["store", [0]]]
    assert found == [["compute", 1], ["pause", SPECIAL - 1], *rest]


@pytest.mark.parametrize("times", [1, 2, 32])
def test_work_that_needs_its_own_result_takes_its_latency_each_time(times):
    chain = giving(0, ("special", 0, 3), instructions=1, stall=2, needs=(0,))
    found = done(work(0, times), store(9, 0), sites=[chain, USES])
    taken = sum(amount for name, amount in found[:-1] if name in ("compute", "pause"))
    assert taken == SPECIAL * times


def test_where_stalls_count_for_nothing_neither_do_results():
    found = done(work(0, 1), store(9, 0), sites=[giving(0, ("special", 0, 1)), USES], **{"scheduling.stalls": "none"})
    assert found == [["compute", 1], ["store", [0]]]


@pytest.mark.parametrize("length", [1, 2, 40])
def test_a_chain_takes_its_length_times_the_latency(length):
    """As chains of functions are measured, and other warps meanwhile do as much."""
    on = machine(**LATENCIES, **{"memory.stores": "posted", "memory.latency": 1}, width=1)
    sites = [giving(0, ("special", 0, 1), needs=(0,)), giving(1, ("special", 0, 1), needs=(0,)), USES]
    events = [work(index % 2, 1) for index in range(length)]
    ticks = [
        simulate(on, lower(trace([[[*events, store(9, 0)] for _ in range(warps)]], sites=sites), on)).ticks
        for warps in (1, 2)
    ]
    assert ticks[0] == length * SPECIAL + 1 + 1
    assert ticks[1] <= ticks[0] + 2, "while one warp waits the other issues"


# Registers of one bank


@pytest.mark.parametrize(("cycles", "stall"), [(0, 2), (1, 2), (2, 2), (3, 0), (3, 9)])
def test_reading_them_takes_issue_cycles_that_are_no_stalls_then(cycles, stall):
    where = reading(0, cycles, stall=stall) if cycles else dataclasses.replace(site(0, "work", [("fp32", 4)]), stall=2)
    left = [["pause", stall - cycles]] if stall > cycles else []
    assert done(work(0, 1), sites=[where], **{"scheduling.operands": "banks"}) == [["compute", 4 + cycles], *left]
    assert done(work(0, 1), sites=[where]) == [["compute", 4], *([["pause", stall]] if stall else [])]


@pytest.mark.parametrize(("cycles", "beyond"), [(3, 0), (4, 0), (6, 2)])
def test_while_they_take_their_pipe_there_is_time_to_read(cycles, beyond):
    keys = {"scheduling.operands": "banks", "pipes.fp32.interval": 2}
    found = done(work(0, 1), sites=[reading(0, cycles)], **keys)
    assert found == [*([["compute", beyond]] if beyond else []), ["compute", 4, "fp32"]]


# What sites may say


def test_a_site_comes_back_from_json():
    said = dataclasses.replace(reading(3, 2), results=(("shuffle", 5, 7), ("special", 6, 1)))
    assert TraceSite.from_dict(said.to_dict()) == said
    assert {"results", "operand_cycles"}.isdisjoint(site(3, "work", [("fp32", 1)]).to_dict())


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ({"results": (("fp32", 0, 1),)}, "results = .*: must be of a class"),
        ({"results": (("special", -1, 1),)}, "results = .*: must be of a class"),
        ({"results": (("special", 0, -1),)}, "results = .*: must be of a class"),
        ({"operand_cycles": (("fp64", 1),)}, "operand_cycles = .*: must be cycles"),
        ({"operand_cycles": (("fp32", 0),)}, "operand_cycles = .*: must be cycles"),
        ({"operand_cycles": (("fp32", 1), ("fp32", 1))}, "operand_cycles = .*: must be cycles"),
    ],
)
def test_what_no_site_can_say_is_refused(said, complaint):
    with pytest.raises(ValueError, match=complaint):
        dataclasses.replace(site(0, "work", [("fp32", 4)]), **said)
