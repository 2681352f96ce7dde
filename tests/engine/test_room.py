"""A machine whose state does not fit in memory is refused before any of it is made."""

import subprocess
import sys
import tracemalloc

import pytest

from simtmm import Workload, load_machine, simulate
from simtmm.engine import room
from simtmm.engine.fast.launches import room as of_fast
from simtmm.engine.fast.launches.launch import Launch
from simtmm.engine.fast.launches.reused import Reused
from simtmm.engine.own_rule.compiled import compiled
from simtmm.engine.reference import room as of_reference
from simtmm.engine.reference.report import Report
from simtmm.engine.reference.run import Run
from simtmm.engine.reference.schedulers import SCHEDULERS
from simtmm.engine.reference.stalls import Bookings
from simtmm.errors import EngineError
from simtmm.result import WHERE_TIME_GOES

ONE = Workload.from_dict({"blocks": [{"warps": [[["load", [1, 2]], ["compute", 3]]]}]})
MOST = 2**31 - 1


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"cores.groups": MOST}, "cores.groups"),
        ({"cores.cores_per_group": MOST}, "cores.cores_per_group"),
        ({"cores.cores_per_group": MOST, "cores.warp_width": 1}, "cores.cores_per_group"),
        ({"cores.issue_ports": MOST}, "cores.issue_ports"),
        ({"memory.partitions": MOST, "memory.service": 1, "memory.rows": None}, "memory.partitions"),
        ({"memory.rows": {"chunks": 1, "open": MOST, "opening": 1}}, "memory.rows.open"),
        ({"memory.l1": {"sets": MOST, "ways": MOST, "latency": 1}}, "memory.l1.sets"),
        ({"memory.l2": {"sets": MOST, "ways": MOST, "latency": 1}}, "memory.l2.sets"),
        ({"memory.l2": {"sets": 1024, "ways": MOST, "latency": 1}}, "memory.l2.ways"),
        ({"memory.l1": {"sets": 1024, "ways": MOST, "latency": 1}}, "memory.l1.ways"),
        ({"cores.groups": MOST, "memory.l1": {"sets": 64, "ways": 512, "latency": 1}}, "cores.groups"),
        ({"cores.groups": MOST, "memory.tlb": {"entries": 4096, "page": 4096, "miss": 1}}, "cores.groups"),
        ({"memory.partitions": MOST, "memory.rows": {"chunks": 1, "open": 120, "opening": 1}}, "memory.partitions"),
    ],
)
def test_what_takes_more_memory_than_there_is_is_refused(monkeypatch, changes, key):
    monkeypatch.setattr(room, "available_memory", lambda: 8 << 30)
    machine = load_machine("gtx280").replace(changes)
    with pytest.raises(EngineError) as caught:
        simulate(machine, ONE, "fast")
    message = str(caught.value)
    assert message.startswith(f"workload on {machine.name}: {key} = {MOST}: the machine's state takes ")
    assert message.endswith("GiB of memory, which has room for 8.0 GiB: must be smaller")


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"cores.max_threads_per_core": MOST},
        {"memory.outstanding": MOST},
        {"cores.warp_width": MOST, "cores.max_threads_per_core": MOST},
        {"memory.partitions": MOST, "memory.service": 0, "memory.atomic_service": 0, "memory.rows": None},
        {"memory.l2": {"sets": 2**20, "ways": 16, "latency": 1}},
    ],
)
def test_what_takes_none_is_simulated(changes):
    assert simulate(load_machine("gtx280").replace(changes), ONE, "fast").ticks > 0


def test_a_shipped_machine_is_not_asked_about(monkeypatch):
    """What this computer has is read only where it matters."""
    monkeypatch.setattr(room, "available_memory", lambda: pytest.fail("asked"))
    simulate(load_machine("gtx280"), ONE, "fast")


def in_lists(ready, group):
    late = [warp for warp in ready if warp.age > 3]
    return sorted(late or ready, key=lambda warp: -warp.slot)[0]


def made_and_estimated(machine, workload, rule=None):
    """Bytes of the arrays of a launch, and what they are estimated to take."""
    launch = of_fast.Part.of(workload, 0)
    own = None if rule is None else compiled(rule)
    fast = Launch(machine, workload, 0, Reused(machine), True, False, 1, rule=own)
    total = sum(array.nbytes for array in fast._state if hasattr(array, "nbytes"))
    lists = None if own is None else own.lists
    needs = of_fast.Needs.of(machine, launch, streamed=False, lists=lists)
    return total, sum(of_fast._tables(machine, of_fast.Room.of(machine, launch), needs).values())


@pytest.mark.parametrize("rule", [None, in_lists])
def test_the_estimate_is_no_more_than_what_is_made(rule):
    """Of each kind of array: what is refused could not have been made."""
    changes = {
        "memory.l1": {"sets": 64, "ways": 4, "latency": 1},
        "memory.l2": {"sets": 512, "ways": 8, "latency": 1, "service": 1},
        "memory.rows": {"chunks": 4, "open": 16, "opening": 1},
        "memory.turnaround": 1,
    }
    machine = load_machine("gtx280").replace(changes)
    total, estimated = made_and_estimated(machine, ONE, rule)
    assert 0.8 * total < estimated <= total


@pytest.mark.parametrize("changes", [{}, {"memory.stores": "at-end"}, {"memory.outstanding": 7}, {"memory.tlb": None}])
@pytest.mark.parametrize("rule", [None, in_lists])
def test_each_more_group_takes_what_is_estimated(changes, rule):
    """Warps and blocks of groups, beside which caches and the workload take most, without these."""
    block = {"warps": [[["load", [1, 2]], ["compute", 3]]] * 8}
    machine = load_machine("gtx280").replace(changes)
    few, many = (
        made_and_estimated(
            machine.replace({"cores.groups": groups}), Workload.from_dict({"blocks": [block] * 200}), rule
        )
        for groups in (20, 40)
    )
    assert 0.9 * (many[0] - few[0]) < many[1] - few[1] <= many[0] - few[0]


def test_what_a_rule_is_asked_with_counts(monkeypatch):
    """A machine that fits without a rule may not fit with one, which is told in the same words."""
    machine = load_machine("gtx280").replace({"cores.issue_ports": 2**20})
    launch = of_fast.Part.of(ONE, 0)
    taken = [
        sum(of_fast._tables(machine, of_fast.Room.of(machine, launch), needs).values())
        for lists in (None, 3)
        for needs in [of_fast.Needs.of(machine, launch, streamed=False, lists=lists)]
    ]
    assert taken[1] > 1.5 * taken[0]
    monkeypatch.setattr(room, "available_memory", lambda: sum(taken) // 2)
    of_fast.check_room(machine, ONE)
    with pytest.raises(EngineError, match=r"cores.issue_ports = 1048576: the machine's state takes"):
        simulate(machine, ONE, "fast", scheduler=in_lists)


# The reference engine, whose lines and partitions come with what is asked for


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"cores.groups": MOST}, "cores.groups"),
        ({"cores.cores_per_group": MOST, "cores.warp_width": 1}, "cores.cores_per_group"),
        ({"cores.issue_ports": MOST}, "cores.issue_ports"),
        ({"memory.partitions": MOST, "memory.rows": {"chunks": 1, "open": 1, "opening": 1}}, "memory.partitions"),
    ],
)
def test_the_reference_engine_refuses_likewise(monkeypatch, changes, key):
    monkeypatch.setattr(room, "available_memory", lambda: 8 << 30)
    with pytest.raises(EngineError, match=rf"{key} = {MOST}: the machine's state takes .* room for 8\.0 GiB: must be"):
        simulate(load_machine("gtx280").replace(changes), ONE, "reference")


@pytest.mark.parametrize(
    "changes",
    [
        {"cores.groups": 5000},
        {"cores.groups": 5000, "memory.l1": {"sets": 2**20, "ways": 2**20, "latency": 1}},
        {"cores.cores_per_group": 2**21, "cores.warp_width": 1, "cores.groups": 1},
        {"memory.partitions": 20_000, "memory.rows": {"chunks": 4, "open": 2**30, "opening": 1}},
    ],
)
def test_the_reference_engines_estimate_is_near_what_is_made(changes):
    """Within a half: versions of CPython differ."""
    machine = load_machine("gtx280").replace(changes)
    report = Report(time=dict.fromkeys(WHERE_TIME_GOES, 0), intervals=None, bookings=Bookings(ONE.known_places))
    tracemalloc.start()
    try:
        result = Run(machine, ONE, 0, report, None, SCHEDULERS["fifo"], ONE.kind)
        taken = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert taken / 1.5 < sum(of_reference._objects(machine).values()) < taken * 1.5
    assert len(result.groups) == machine.cores.groups


IN_FLIGHT = """
import resource
from simtmm import Workload, load_machine, simulate

machine = load_machine("gtx280").replace({"cores.groups": 1024, "memory.latency": 10**7, "memory.outstanding": None})
loads = [["async", [number]] for number in range(1 << 15)]
one, many = (Workload.from_dict({"blocks": [{"warps": [operations]}]}) for operations in (loads[:1], loads))
simulate(machine, one, "fast")
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
simulate(machine, many, "fast")
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def test_the_room_for_loads_in_flight_is_taken_by_those_that_are():
    """Those of one warp, of one in each of 1,024 groups: 256 MiB if each had its room, in 65,536 pages.

    In a process of its own: memory that other tests have given back would be cleared, and so taken, as a whole.
    """
    done = subprocess.run([sys.executable, "-c", IN_FLIGHT], capture_output=True, text=True, check=True)
    assert 0 < int(done.stdout) < 20_000


def test_a_limit_on_loads_in_flight_that_takes_more_memory_than_there_is_is_refused(monkeypatch):
    monkeypatch.setattr(room, "available_memory", lambda: 1 << 30)
    machine = load_machine("gtx280").replace({"memory.outstanding": 10**7})
    workload = Workload.from_dict({"blocks": [{"warps": [[["async", [1]]] * 11]}]})
    monkeypatch.setattr(of_fast, "outstanding_of", lambda machine, part: 10**7)  # as with more loads of one warp
    with pytest.raises(
        EngineError, match=r"on .*: memory\.outstanding = 10000000: the machine's state takes 2\.\d GiB"
    ):
        simulate(machine, workload, "fast")
