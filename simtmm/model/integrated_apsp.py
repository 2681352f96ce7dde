"""The integrated framework's models of shortest paths, of programs that follow the dynamic program.

Equations with their source stand in applications/integrated_apsp.py. Blocks and threads are the launches', n the
algorithm's.
"""

from collections.abc import Mapping

import numpy as np

from simtmm.errors import ModelError
from simtmm.machine import Machine
from simtmm.model.applications.integrated_apsp import APSP, APSP_FITTED, APSP_SUM
from simtmm.model.equations.formula import Formula
from simtmm.model.launch.scheduling import ScheduledLaunches, scheduled_launches
from simtmm.model.model import Model
from simtmm.result import Prediction
from simtmm.trace.counts import Counts

ALGORITHM = "apsp-dynamic-programming"


def integrated_apsp(machine: Machine, counts: Counts, symbols: Mapping[str, float]) -> Prediction:
    """Eq (6.7): the larger of computing and memory, over all squarings. symbols: of the algorithm, of which n is taken.

    Raises ModelError where the squarings differ in their blocks or threads.
    """
    return _predict(APSP, machine, counts, symbols)


def integrated_apsp_sum(machine: Machine, counts: Counts, symbols: Mapping[str, float]) -> Prediction:
    """The sum of both; see `integrated_apsp`."""
    return _predict(APSP_SUM, machine, counts, symbols)


def fitted_apsp(machine: Machine, counts: Counts, a1: float, a0: float) -> Prediction:
    """Eq (6.10): a1 sqrt(B_r) / T + a0. a1, a0: in cycles.

    counts: of the program.

    Raises ModelError as `integrated_apsp` does.
    """
    of = _squaring(APSP_FITTED, machine, counts)
    return APSP_FITTED.evaluate(a1=a1, a0=a0, B_r=of.B_r[0], T=of.T[0]).prediction(machine.clock_hz)


def _predict(formula: Formula, machine: Machine, counts: Counts, symbols: Mapping[str, float]) -> Prediction:
    of = _squaring(formula, machine, counts)
    memory, cores = machine.memory, machine.cores
    return formula.evaluate(
        n=symbols["n"],
        L=memory.latency,
        C=memory.chunk_words,
        T=of.T[0],
        B_r=of.B_r[0],
        B_a=of.B_a[0],
        P=machine.processors,
        Q=cores.cores_per_group,
    ).prediction(machine.clock_hz)


def _squaring(formula: Formula, machine: Machine, counts: Counts) -> ScheduledLaunches:
    """The launches, which are alike."""
    of = scheduled_launches(machine, counts)
    if any(np.ptp(values) for values in (of.B_r, of.B_a, of.T)):
        raise ModelError(f"{formula.name}: launches differ in blocks or threads, but all squarings must be the same")
    return of


INTEGRATED_APSP = Model("integrated, paths, MAX", APSP, integrated_apsp, algorithm=ALGORITHM)
INTEGRATED_APSP_SUM = Model(
    "integrated, paths, SUM", APSP_SUM, integrated_apsp_sum, form_of=APSP.name, algorithm=ALGORITHM
)
FITTED_APSP = Model("paths, fitted", APSP_FITTED, fitted_apsp, constants=("a1", "a0"), algorithm=ALGORITHM)
