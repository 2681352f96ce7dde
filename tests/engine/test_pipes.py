"""Closed forms of pipes, which instructions of some classes pass behind their port (section 5)."""

import pytest

from simtmm import Machine, Workload, simulate
from simtmm.engine import ENGINES
from simtmm.errors import MachineError, WorkloadError
from simtmm.stalls import CLASSES

pytestmark = pytest.mark.parametrize("engine", ENGINES)

LATENCY, INTERVAL = 100, 16
EVERY = {"scheduling.switch": "every-instruction", "scheduling.pipeline_depth": 4}


def machine(ports=1, count=1, interval=INTERVAL, **changes):
    return Machine.from_dict(
        {
            "name": "m",
            "cores": {"groups": 1, "cores_per_group": 32 * ports, "warp_width": 32, "max_threads_per_core": 64},
            "memory": {"latency": LATENCY, "chunk_words": 32},
            "pipes": {"fp64": {"interval": interval, "count": count}},
        }
    ).replace(changes)


def run(on, engine, *warps):
    return simulate(
        on, Workload.from_dict({"blocks": [{"warps": [list(warp) for warp in warps]}]}), engine, stalls=True
    )


def ticks(on, engine, *warps):
    return run(on, engine, *warps).ticks


@pytest.mark.parametrize("instructions", [1, 3, 2**32])
def test_a_warp_goes_on_when_its_last_instruction_starts(engine, instructions):
    alone = 1 + (instructions - 1) * INTERVAL
    assert ticks(machine(), engine, [["compute", instructions, "fp64"]]) == alone
    assert ticks(machine(), engine, [["compute", instructions, "fp64"], ["compute", 5]]) == alone + 5


@pytest.mark.parametrize("every", [{}, EVERY])
@pytest.mark.parametrize("ports", [1, 4])
@pytest.mark.parametrize("warps", [1, 2, 7])
def test_the_pipe_of_a_group_takes_an_instruction_an_interval(engine, every, ports, warps):
    # The first starts a cycle behind its grant, and each other one an interval behind the one before it.
    each = [["compute", 10, "fp64"]]
    assert ticks(machine(ports, **every), engine, *[each] * warps) == 1 + (warps * 10 - 1) * INTERVAL


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_warps_share_the_pipe_of_their_slot(engine, count):
    warps = [[["compute", 5, "fp64"]] for _ in range(4)]
    most = -(-4 // count)  # of one pipe
    assert ticks(machine(4, count), engine, *warps) == 1 + (5 * most - 1) * INTERVAL


@pytest.mark.parametrize("every", [{}, EVERY])
def test_more_ports_than_lanes_issue_what_passes_elsewhere(engine, every):
    # Four schedulers above lanes for two warps: floats of four warps take two cycles each, all else one.
    on = machine(2).replace({"cores.issue_ports": 4, "pipes.fp32.interval": 2, "pipes.fp32.count": 4, **every})
    amount = 1000
    floats, others = [["compute", amount, "fp32"]], [["compute", amount, "integer"]]
    depth = 4 if every else 1
    for warps, cycles in ((4, max(2, depth)), (8, 4), (16, 8)):
        assert ticks(on, engine, *[floats] * warps) == pytest.approx(cycles * amount, rel=0.01)  # ends of pipelines
    for warps, cycles in ((4, max(1, depth)), (8, max(2, depth)), (16, 4)):
        assert ticks(on, engine, *[others] * warps) == pytest.approx(cycles * amount, rel=0.01)
    # Half of each, a pipe having two warps of either: as many instructions a cycle as there are ports.
    assert ticks(on, engine, *([floats] * 4 + [others] * 4) * 2) == pytest.approx(4 * amount, rel=0.01)


def test_the_port_is_free_for_others_meanwhile(engine):
    # The second warp issues behind the first one's two instructions, and is done before the second of these starts.
    done = run(machine(), engine, [["compute", 2, "fp64"]], [["compute", 9]])
    assert (done.ticks, done.port_busy) == (1 + INTERVAL, 2 + 9)


def test_a_warp_whose_pipe_is_free_keeps_its_port(engine):
    # Were the port given up behind the first instruction, the second warp would be granted it before the load.
    warp = [["compute", 1, "fp64"], ["load", [0]]]
    assert ticks(machine(), engine, warp, [["compute", 50]]) == 2 + LATENCY
    # The second instruction starts at 17, when the other warp has the port.
    assert ticks(machine(), engine, [["compute", 2, "fp64"], ["load", [0]]], [["compute", 50]]) == 52 + 1 + LATENCY


@pytest.mark.parametrize("every", [{}, EVERY | {"scheduling.pipeline_depth": 1}])
def test_a_pipe_as_fast_as_its_port_makes_no_difference(engine, every):
    warps = [[["compute", 7, "fp64"], ["load", [0]], ["compute", 3, "fp64"]], [["compute", 4, "fp64"]]]
    slow, fast = (ticks(machine(interval=interval, **every), engine, *warps) for interval in (1, 0))
    assert slow == fast


def test_other_classes_and_none_pass_by(engine):
    on = machine()
    for more in ([], *([name] for name in CLASSES if name != "fp64")):
        assert ticks(on, engine, [["compute", 5, *more]]) == 5


def test_every_instruction_waits_for_the_later_of_pipeline_and_pipe(engine):
    on = machine(**EVERY)
    done = run(on, engine, [["compute", 3, "fp64"], ["compute", 1]])
    # Those of the class are granted at 0, 4 and 17, leave the port at 1, 5 and 18, and start at 1, 17 and 33.
    assert done.ticks == 33 + 4
    assert {name: spent for name, spent in done.stalls.reasons.items() if spent} == {
        "issuing": 4, "instruction_latency": 4 * 3, "pipe_queue": (17 - 8) + (33 - 21),
    }  # fmt: skip


def test_pipes_queue_billions_of_instructions(engine):
    on = machine(4, 2, **EVERY)
    amount = 2**32
    done = run(on, engine, *[[["compute", amount, "fp64"]]] * 5)
    assert done.ticks == 1 + (3 * amount - 1) * INTERVAL
    assert done.issued == 5 * amount
    assert sum(done.stalls.reasons.values()) == done.stalls.ticks.sum()


def test_what_is_no_pipe_or_class_is_refused(engine):
    with pytest.raises(MachineError, match=r"pipes.fp64.interval = -1.0: must be a number of at least 0"):
        machine(interval=-1.0)
    with pytest.raises(MachineError, match=r"pipes.fp128: unknown key"):
        machine(**{"pipes.fp128.interval": 3})
    with pytest.raises(WorkloadError, match=r"compute: unknown class 'fp46'"):
        run(machine(), engine, [["compute", 3, "fp46"]])
