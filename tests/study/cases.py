"""Comparisons by hand: times that one can reckon with."""

from dataclasses import replace

from simtmm import Machine
from simtmm.analysis.comparison.case import Case
from simtmm.analysis.comparison.comparison import Comparison
from simtmm.result import Prediction, Result
from simtmm.trace.counts import Counts, LaunchCounts

MACHINE = Machine.from_dict(
    {
        "name": "Hand-made",
        "clock_hz": 1e9,
        "peak_bandwidth": 8e9,
        "cores": {"groups": 2, "cores_per_group": 8, "warp_width": 8, "max_threads_per_core": 4},
        "memory": {"latency": 20, "chunk_words": 8},
    }
)
WAITED = {"issuing": 10, "memory": 80, "barrier": 5, "start": 0, "empty": 5}


def counts(work=1000, moved=4000):
    launch = LaunchCounts("f", work, 1, 1, 1, 1, 1, 1, 1, 1, 1.0, bytes_read=moved)
    return Counts(work, 1, 1, 1, 1.0, 1.0, (launch,))


def case(size, simulated, models=(), measured=None, time=WAITED, machine=MACHINE, program="kernel"):
    """A case whose models say (cycles, bound), by name."""
    made = {
        name: Prediction(name, cycles, bound, {bound: cycles}, {}, "by hand", machine.clock_hz)
        for name, (cycles, bound) in dict(models).items()
    }
    result = Result(simulated, 1, 1, 0, 0, 1, time, (simulated,), 1, machine.clock_hz)
    given = {"n": size}
    return Case(program, given, {**given, "seed": 0}, "hand", machine, result, counts(), made, measured)


def comparison(*cases, series=("simulated", "tmm", "measured"), reference="simulated", **more):
    return Comparison(tuple(cases), tuple(series), reference, **more)


def without_clock(made):
    """The same on a machine that has none."""
    machine = MACHINE.replace({"clock_hz": None})
    return replace(made, machine=machine, result=replace(made.result, clock_hz=None))
