"""The integrated framework: the TMM's time, times what block scheduling costs.

The TMM takes over f_app and f_cache of the calibrated model, and lifts its condition A_T; the span is left out, as
it never binds where there is parallelism enough. Constants are taken as 1. The printed form is the larger of computing
and memory (MAX); the times measured for Eq (6.10) look like their sum (SUM; the names are Rehman's), as the fitted
line has an intercept of 78 % of its value at the knee, where Eq (6.9) has none.

Source: Ma, dissertation (2014), Eq (6.1) to (6.3); Rehman, thesis (2010), section 6.1.
"""

from dataclasses import replace

from simtmm.machine import Machine
from simtmm.model.calibrated import F_SCHED
from simtmm.model.equations.domain import checked
from simtmm.model.equations.formula import Formula, Symbol
from simtmm.model.equations.functions import Value, ceiling, maximum
from simtmm.model.equations.symbols import T1, L, M, P, Q, T
from simtmm.model.launch.occupancy import B_A
from simtmm.model.launch.scheduling import B_R, scheduled_launches, scheduling_factor
from simtmm.model.launch.sum_over_launches import over_launches
from simtmm.model.model import Model
from simtmm.result import Prediction
from simtmm.trace.counts import Counts

T_P = Symbol("T_P", "time by the TMM", "cycles", latex="T_P")

SOURCE = "000 (Ma, dissertation), Eq (6.2)"
_SYMBOLS = (T1, M, L, T, B_R, B_A, P, Q)


@checked("time", T_P, F_SCHED)
def scheduled_time(T_P: Value, f_sched: Value) -> Value:
    """Time in cycles."""
    return T_P * f_sched  # Eq. (6.1)


@checked("waves", B_R, B_A, P, Q)
def waves_per_core(B_r: Value, B_a: Value, P: Value, Q: Value) -> Value:
    """f_sched / P, in the form of Eq (6.3)."""
    return ceiling(Q * B_r / (B_a * P)) * (B_a / (Q * B_r))  # the last two factors of Eq. (6.3)


def _terms(T1: Value, M: Value, L: Value, T: Value, B_r: Value, B_a: Value, P: Value, Q: Value) -> dict[str, Value]:
    f_sched = scheduling_factor(B_r, B_a, P, Q)
    return {"compute": T1 / P * f_sched, "memory": M * L / (T * P) * f_sched}  # Eq. (6.2)


@checked("time", *_SYMBOLS)
def time_by_groups(T1: Value, M: Value, L: Value, T: Value, B_r: Value, B_a: Value, P: Value, Q: Value) -> Value:
    """Time in cycles in the form of Eq (6.3), which has P and Q in the second factor only; the same as Eq (6.2)."""
    return maximum(T1, M * L / T) * waves_per_core(B_r, B_a, P, Q)  # Eq. (6.3)


def integrated(machine: Machine, counts: Counts, active_blocks: int | None = None) -> Prediction:
    """max(T1 / P, M L / (T P)) f_sched cycles, each launch on its own, summed as launches follow one another.

    active_blocks: the most blocks a core group holds, where the user forces fewer than the occupancy (section 6.4).
    T is of a core whose group holds B_a blocks. `terms` are summed over launches, so that the time is at least the
    larger; `bound` is the term that binds for most of the time; f_sched among the symbols is the whole program's.
    Counts without launches are taken as one that fills the machine. Raises ModelError for active_blocks below 1.
    """
    return _predict(INTEGRATED.formula, machine, counts, active_blocks)


def integrated_sum(machine: Machine, counts: Counts, active_blocks: int | None = None) -> Prediction:
    """(T1 / P + M L / (T P)) f_sched cycles; see `integrated`."""
    return _predict(INTEGRATED_SUM.formula, machine, counts, active_blocks)


def _predict(formula: Formula, machine: Machine, counts: Counts, active_blocks: int | None) -> Prediction:
    of = scheduled_launches(machine, counts, active_blocks)
    P, Q, L = machine.processors, machine.cores.cores_per_group, machine.memory.latency
    values = formula.evaluate(T1=of.T1, M=of.M, L=L, T=of.T, B_r=of.B_r, B_a=of.B_a, P=P, Q=Q)
    prediction = over_launches(values, machine)
    unscheduled = float((values.total / scheduling_factor(of.B_r, of.B_a, P, Q)).sum())
    f_sched = prediction.cycles / unscheduled if unscheduled else 1.0
    totals = {"T1": counts.work, "M": counts.memory_operations}
    return replace(prediction, symbols={**prediction.symbols, **totals, "f_sched": f_sched})


INTEGRATED = Model(
    label="integrated, MAX",
    formula=Formula("integrated", _terms, _SYMBOLS, SOURCE),
    prediction=integrated,
)
INTEGRATED_SUM = Model(
    label="integrated, SUM",
    formula=Formula("integrated-sum", _terms, _SYMBOLS, f"{SOURCE}, with the sum for the maximum", combine="sum"),
    prediction=integrated_sum,
    form_of="integrated",
)
