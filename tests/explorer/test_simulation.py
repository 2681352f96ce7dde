"""A configuration simulated: as any run is, ended by a newer question, and by a sample."""

import numpy as np
import pytest

import simtmm
from simtmm.errors import KernelError, MachineError, SimtmmError
from simtmm.explorer.curve import curves, values_of_parameter
from simtmm.explorer.programs import Kept
from simtmm.explorer.simulation import Superseded, cycles, estimated_cycles, run, sample, work_of
from simtmm.explorer.views import views
from simtmm.model.latency_hiding import hiding_of_trace
from simtmm.parameter import Parameter
from simtmm.workload import Workload


def test_it_is_what_simtmm_run_says(ready):
    here = ready("p.pattern=stride&p.stride=4&latency=700&chunk=16")
    machine = simtmm.load_machine("classroom").replace({"memory.latency": 700.0, "memory.chunk_words": 16})
    there = simtmm.run("copy", machine, {"pattern": "stride", "stride": 4}, what_if=False)
    done = run(here)
    assert done.result.to_dict() == there.result.to_dict()
    assert done.result.stalls == there.result.stalls
    assert done.counts == there.counts
    assert {name: done.predictions[name] for name in there.predictions} == dict(there.predictions)
    shown = views(here, done)
    assert shown["cycles"] == there.result.cycles
    assert shown["binds"] == there.verdict.cause


@pytest.mark.parametrize("text", ["", "groups=2", "width=16", "switch=every-instruction", "threads=8", "cores=16"])
def test_what_is_kept_is_what_is_made_anew(ready, text):
    for state in (text, f"latency=55&{text}".rstrip("&")):  # the second finds workload and counts of the first
        here = ready(state)
        fresh = simtmm.run(here.program.trace, here.machine, what_if=False)
        assert run(here).counts == fresh.counts
        assert cycles(here.machine, here.prepared.workload) == fresh.result.cycles


def test_a_move_ends_what_the_last_one_began(ready):
    here = ready("p.n=262144")
    heard = []

    def watch(stage, done, total=None):
        heard.append(stage)
        if stage == "simulating" and done:
            raise Superseded

    with pytest.raises(Superseded):
        run(here, watch)
    assert heard[-1] == "simulating"
    assert run(here).result.cycles  # and nothing is left of it


def test_a_program_is_named_and_never_a_path(ready):
    for program in ("../kernels/copy", "/etc/passwd", "kernels/copy", "x" * 3000, ""):
        with pytest.raises(KernelError, match="is not available on this page"):
            ready(f"k={program}"[:1900])
    for machine in ("machines/ideal.toml", "/etc/passwd", ""):
        with pytest.raises(MachineError, match="is not available on this page"):
            ready(f"m={machine}")


def test_a_sample_of_all_is_all_and_a_part_is_near(ready):
    here = ready("p.n=262144")
    workload = here.prepared.workload
    assert sample(workload, here.machine, work_of(workload)).workload is workload
    part = sample(workload, here.machine, work_of(workload) // 3)
    assert 0.2 < part.part < 0.4
    assert part.workload == _first_blocks(workload, part.workload.blocks)
    # Begin and end, some 3 % of the time in which memory is not busy, weigh three times as much
    assert estimated_cycles(here.machine, part) == pytest.approx(cycles(here.machine, workload), rel=0.1)


def _first_blocks(workload: Workload, blocks: int) -> Workload:
    """The first blocks of a single launch."""
    tables = workload.to_dict()
    tables["launches"][0]["blocks"] = tables["launches"][0]["blocks"][:blocks]
    return Workload.from_dict(tables)


def test_of_many_launches_a_sample_has_whole_ones(ready):
    here = ready("k=list-ranking-wyllie&p.n=1024")
    workload = here.prepared.workload
    part = sample(workload, here.machine, work_of(workload) // 2)
    assert 1 <= part.workload.launches < workload.launches
    assert set(np.diff(part.workload.launch_blocks)) == set(np.diff(workload.launch_blocks))


def test_the_curve_has_the_times_of_runs_and_the_present_point_first(ready, programs):
    here = ready("p.n=16384&latency=500")
    grown = list(curves(programs, here, "latency"))
    assert grown[0].points[0].value == 500
    assert [each.whole for each in grown] == [False] * (len(grown) - 1) + [True]
    for point in grown[-1].points[::6]:
        machine = here.base.replace({"memory.latency": point.value})
        assert point.cycles == simtmm.simulate(machine, here.prepared.workload).cycles
        assert point.model == simtmm.predict("tmm", machine, here.program.trace).cycles


def test_the_threshold_is_where_the_tmm_says_that_latency_is_no_longer_hidden(ready, programs):
    here = ready("p.n=262144")
    *_, curve = curves(programs, here, "latency")
    hidden = hiding_of_trace(here.program.trace, here.machine, here.prepared.counts)
    assert curve.threshold == pytest.approx(hidden.largest_latency, rel=1e-6)
    assert curve.knee is not None


def test_a_curve_has_the_values_that_can_be_and_says_why_not_of_the_others(ready, programs):
    *_, curve = curves(programs, ready("p.n=16384"), "threads")
    refused = [point for point in curve.points if point.cycles is None]
    assert refused
    assert all("does not fit" in point.refused for point in refused)
    *_, choices = curves(programs, ready("p.n=16384"), "scheduler")
    assert [point.value for point in choices.points] == ["fifo", "oldest", "greedy-oldest", "round-robin"]
    assert list(curves(programs, ready("p.n=16384"), "nothing")) == []


def test_a_parameter_s_values_are_allowed_ones():
    assert values_of_parameter(Parameter(3, "", minimum=1, maximum=8), 3) == [1, 2, 3, 4, 5, 6, 7, 8]
    many = values_of_parameter(Parameter(64, "", minimum=1, maximum=300), 64)
    assert many == sorted(many)
    assert 64 in many
    assert max(many) <= 300
    assert {63, 65} < set(many)
    assert values_of_parameter(Parameter("a", "", choices=("a", "b")), "a") == ["a", "b"]
    assert values_of_parameter(Parameter(0, "", minimum=0, maximum=2), 0) == [0, 1, 2]


def test_what_is_kept_is_bounded_and_errors_are_not_kept():
    kept = Kept(2)

    def fail():
        raise SimtmmError("no")

    for number in (1, 2, 1, 3):
        kept.get(number, lambda number=number: number)
    assert len(kept) == 2
    assert kept.get(1, fail) == 1  # 2 was used longer ago
    with pytest.raises(SimtmmError):
        kept.get(2, fail)
    assert len(kept) == 2
    large = Kept(9, len, 10)
    for letter in "abcde":
        large.get(letter, lambda letter=letter: letter * 4)
    assert len(large) == 2  # eight bytes of ten
    large.get("f", lambda: "f" * 99)
    assert len(large) == 1
