"""The clock that a GPU holds at its limit of power: as a change of the machine, and what reports say of it."""

from dataclasses import replace

import pytest

import simtmm
from simtmm.analysis.sustained_clock import LOWERS, clock_words, share_of_products
from simtmm.errors import MachineError
from simtmm.machine import load_machine
from simtmm.trace.counts import Counts

H100 = load_machine("h100-sxm")
SLOWER = H100.sustained_clock_hz / H100.clock_hz


def held(**keys):
    return H100.replace({"clock_hz": "sustained", **keys})


def test_cycles_take_longer_and_what_has_other_clocks_does_not():
    machine = held()
    assert machine.clock_hz == H100.sustained_clock_hz == 1.635e9
    assert machine.memory.l2.latency == H100.memory.l2.latency
    for of in (
        lambda made: made.memory.service / made.clock_hz,
        lambda made: made.scheduling.launch_overhead / made.clock_hz,
        lambda made: (made.memory.latency - made.memory.l2.latency) / made.clock_hz,
    ):
        assert of(machine) == pytest.approx(of(H100), rel=1e-12)
    assert machine.memory.latency < H100.memory.latency


def test_a_bandwidth_in_bytes_a_second_stays():
    by_bytes = H100.replace({"memory.bandwidth": 3e12})
    machine = by_bytes.replace({"clock_hz": "sustained"})
    assert machine.memory.bandwidth == 3e12
    assert machine.memory.service == pytest.approx(by_bytes.memory.service * SLOWER)


def test_its_name_says_so_and_other_changes_are_of_that_machine():
    assert held().name == "H100 SXM (clock_hz = sustained)"
    assert held().digest() != H100.digest()
    changed = held(**{"memory.latency": 800})
    assert (changed.memory.latency, changed.clock_hz) == (800, 1.635e9)
    assert changed.name == "H100 SXM (clock_hz = sustained, memory.latency = 800)"


def test_it_may_be_given_with_it():
    """As the base clock at which a profiler holds a GPU."""
    machine = held(sustained_clock_hz=1.1e9, **{"memory.latency": 800})
    assert (machine.clock_hz, machine.memory.latency) == (1.1e9, 800)
    assert machine.memory.service / 1.1e9 == pytest.approx(H100.memory.service / H100.clock_hz)
    with pytest.raises(MachineError, match=r"sustained_clock_hz = 3e\+09 must be below its clock_hz"):
        held(sustained_clock_hz=3e9)


@pytest.mark.parametrize(
    ("machine", "why"),
    [
        (load_machine("gtx480"), "it has no sustained_clock_hz"),
        (H100.replace({"clock_hz": None}), "it has no sustained_clock_hz"),
        (H100.replace({"clock_hz": 1e9}), "must be below its clock_hz = 1e\\+09"),
        (held(), "must be below"),
    ],
)
def test_a_machine_without_one_or_at_it_is_refused(machine, why):
    with pytest.raises(MachineError, match=why):
        machine.replace({"clock_hz": "sustained"})


def counts(tensor):
    return replace(Counts.of_launches((), {"tensor": tensor}))


@pytest.fixture(scope="module")
def result():
    workload = simtmm.Workload.from_dict({"blocks": [{"warps": [[["compute", 1000]]]}]})
    return simtmm.simulate(H100, workload)


def instructions(result, share):
    """Products of all groups' pipes, by threads, for a part of the time."""
    pipe = H100.pipes.tensor
    return share * 32 * result.cycles * pipe.count * H100.cores.groups / pipe.interval


def test_the_share_of_products_is_of_all_pipes_and_of_the_time(result):
    assert share_of_products(H100, result, counts(instructions(result, 0.5))) == pytest.approx(0.5)
    assert share_of_products(H100.replace({"products": None}), result, counts(instructions(result, 0.5))) == 0


@pytest.mark.parametrize(("share", "told"), [(LOWERS - 0.01, False), (LOWERS + 0.01, True)])
def test_reports_suggest_it_where_products_take_the_time(result, share, told):
    words = clock_words(H100, result, counts(instructions(result, share)))
    assert len(words) == told
    assert all("--set clock_hz=sustained" in each and "1.635 GHz" in each for each in words)
    doubtful = clock_words(held(), result, counts(instructions(result, share)))
    assert "throughout" in doubtful[0]
    assert ("although" in doubtful[0]) != told


def test_nothing_is_told_of_a_machine_without_one(result):
    assert clock_words(load_machine("gtx480"), result, counts(10**12)) == ()
