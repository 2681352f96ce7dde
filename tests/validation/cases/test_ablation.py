"""Rules switched off one by one: what is switched off, and on which points."""

import pytest

from simtmm import Workload, load_machine, simulate
from simtmm.calibration.streams.occupancy_curve import StreamPoint
from simtmm.validation.cases import ablation, h100_compiled
from simtmm.validation.cases.stream_occupancy import GPUS

MACHINES = [load_machine(name) for name in (h100_compiled.MACHINE, *(gpu.machine for gpu in GPUS))]


@pytest.mark.parametrize("rule", ablation.RULES, ids=lambda rule: rule.name)
def test_each_rule_is_one_that_a_machine_has(rule):
    assert any(rule.without(machine) is not machine for machine in MACHINES)


def test_without_a_rule_that_it_lacks_a_machine_is_itself():
    machine = load_machine("ideal")
    rule = ablation.Rule("turnaround", {"memory.turnaround": 0, "memory.l2.service": 0, "memory.l2": None})
    assert rule.without(machine) is machine
    assert rule.without(load_machine("v100")).memory.l2 is None


def test_pauses_go_and_all_else_stays():
    workload = Workload.from_dict(
        {"blocks": [{"warps": [[["async", [0]], ["pause", 500], ["compute", 3], ["pause", 900]]]}]}
    )
    machine = load_machine("ideal")
    bare = Workload.from_dict({"blocks": [{"warps": [[["async", [0]], ["compute", 3]]]}]})
    assert simulate(machine, ablation.without_pauses(workload)).ticks == simulate(machine, bare).ticks
    assert simulate(machine, workload).ticks > simulate(machine, bare).ticks


def test_points_of_a_fit_are_left_out():
    points = [StreamPoint(32, 1, occupancy, {}) for occupancy in range(39)]
    left = [point.occupancy for point in ablation.unfitted(points)]
    assert len(left) == 39 - 10
    assert not {0, 38} & set(left)


def test_no_point_decided_a_value_of_the_profile():
    chosen = [time for time in h100_compiled.measured_times() if ablation._is_chosen(time)]
    numbers = [(time.kernel, {key: int(value) for key, value in time.parameters.items()}) for time in chosen]
    assert not [
        (kernel, of)
        for kernel, of in numbers
        if (kernel == "empty" and (of["threads"], of["blocks"]) in h100_compiled.EMPTY_CALIBRATION)
        or (kernel == "ffma" and of["blocks"] == h100_compiled.FFMA_CALIBRATION)
        or (kernel in ("gemm", "mvt") and of["side"] == 8)
        or (kernel == "syrk" and of["side"] == 32)
        or (kernel == "vector-add" and of["n"] in (1 << 14, 1 << 18, 1 << 19, 1 << 20))
    ]
    left_out = {"convolution-3d", "walsh", "sort-short"}  # which would take hours
    assert {kernel for kernel, _ in numbers} == {time.kernel for time in h100_compiled.measured_times()} - left_out
