"""Kernels simulated and modelled for figures: seconds of a kernel on a machine, and of an algorithm by the TMM."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from simtmm.engine import simulate
from simtmm.machine import Machine
from simtmm.model.algorithms import find
from simtmm.model.algorithms.times import predict_algorithm
from simtmm.recorder import record
from simtmm.result import Result
from simtmm.trace.io import Trace
from simtmm.trace.lower import fit, lower

FITTED_NOTHING = "nothing"
NO_POINTS = "The paper's points are in the figure alone."
CONSTANTS = "Models' constants are 1, so their curves have shapes and no scale."


@lru_cache(maxsize=2)  # the same program on several machines, one after another
def _recorded(kernel: str, parameters: tuple[tuple[str, Any], ...]) -> Trace:
    return record(kernel, dict(parameters))


def simulated(machine: Machine, kernel: str, parameters: Mapping[str, Any]) -> Result:
    """A kernel on a machine; recorded once for machines that follow on one another."""
    trace = _recorded(kernel, tuple(parameters.items()))
    return simulate(machine, fit(lower(trace, machine), trace.info, machine), breakdown=False)


def seconds(machine: Machine, kernel: str, parameters: Mapping[str, Any]) -> float:
    """The time of all launches, without gaps between them."""
    return _in_seconds(machine, simulated(machine, kernel, parameters).cycles)


def launches_ms(machine: Machine, kernel: str, parameters: Mapping[str, Any]) -> list[tuple[str, float]]:
    """Each launch's kernel and time, in ms."""
    ticks = simulated(machine, kernel, parameters).launch_ticks
    names = [launch.kernel for launch in _recorded(kernel, tuple(parameters.items())).info.launches]
    return [
        (name, _in_seconds(machine, tick / machine.ticks_per_cycle) * 1e3)
        for name, tick in zip(names, ticks, strict=True)
    ]


def modelled(
    machine: Machine,
    algorithm: str,
    parameters: Mapping[str, float],
    threads: float | None = None,
    variant: str | None = None,
    model: str = "tmm",
) -> float:
    """Cycles of an algorithm by its closed form."""
    return float(predict_algorithm(find(algorithm), machine, parameters, threads, variant)[model].cycles)


def _in_seconds(machine: Machine, cycles: float) -> float:
    assert machine.clock_hz is not None
    return float(cycles / machine.clock_hz)
