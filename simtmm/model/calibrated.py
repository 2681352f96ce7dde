"""The calibrated model: time grows with an algorithm's complexity, by two constants fitted to measured times.

It holds where enough threads hide the latency (A_T); chapter 6 (integrated.py) lifts that.

Source: Ma, dissertation (2014), Eq (5.8), (5.9) and (5.14), and the constants of Eq (5.24); Ma and Chamberlain
(ASAP 2012), Eq (7) and (8).
"""

from math import inf
from typing import Literal

import numpy as np

from simtmm.errors import ModelError
from simtmm.machine import Machine
from simtmm.model.cache import C_S, WORKING_SET, G, cache_factor
from simtmm.model.equations.domain import checked
from simtmm.model.equations.formula import Formula, Symbol
from simtmm.model.equations.functions import Value
from simtmm.model.equations.symbols import P, Q
from simtmm.model.launch.occupancy import B_A
from simtmm.model.launch.scheduling import B_R, scheduled_launches, scheduling_factor
from simtmm.model.model import Model
from simtmm.result import Prediction
from simtmm.trace.counts import Counts

A1 = Symbol("a1", "time for each unit of complexity, fitted", latex="a_1")
A0 = Symbol("a0", "time whatever the complexity, fitted", minimum=-inf, latex="a_0")
F_APP = Symbol("f_app", "complexity of the algorithm", "operations", latex="f_{app}")
F_CACHE = Symbol("f_cache", "cache factor", above=True, latex="f_{cache}")
F_SCHED = Symbol("f_sched", "block scheduling factor", minimum=1, latex="f_{sched}")
ELEMENTS = Symbol("n", "data set", "elements")
TIME = Symbol("Time", "execution time", "s", above=True)

SOURCE = "000 (Ma, dissertation), Eq (5.9), with the constants of Eq (5.24)"


@checked("time", F_APP, F_CACHE, F_SCHED)
def proportional_time(f_app: Value, f_cache: Value, f_sched: Value) -> Value:
    """What time is proportional to, if A_T. With both factors 1 (A_B, A_C) it is the least, Eq (5.8)."""
    return f_app * f_cache * f_sched  # Eq. (5.9)


@checked("throughput", ELEMENTS, TIME)
def throughput(n: Value, Time: Value) -> Value:
    """T_put, elements a second."""
    return n / Time  # Eq. (5.14)


def _terms(a1: Value, a0: Value, f_app: Value, f_cache: Value, f_sched: Value) -> dict[str, Value]:
    return {"run": a1 * (f_app * f_cache * f_sched), "constant": a0}  # Eq. (5.9) in the form of Eq. (5.24)


def _terms_of_launch(  # noqa: PLR0913, PLR0917 - a letter of the equation each
    a1: Value, a0: Value, f_app: Value, m: Value, C_s: Value, G: Value, B_r: Value, B_a: Value, P: Value, Q: Value
) -> dict[str, Value]:
    return _terms(a1, a0, f_app, cache_factor(m, C_s, G), scheduling_factor(B_r, B_a, P, Q))


CALIBRATED_BY_LAUNCH = Formula(
    "calibrated",
    _terms_of_launch,
    (A1, A0, F_APP, WORKING_SET, C_S, G, B_R, B_A, P, Q),
    f"{SOURCE}, and Eq (5.12) and (5.13)",
    combine="sum",
    unit="s",
)


def calibrated(  # noqa: PLR0913 - a letter of the equation each
    machine: Machine,
    counts: Counts,
    a1: float,
    a0: float,
    *,
    unit: Literal["s", "cycles"] = "s",
    f_app: float | None = None,
    m: float | None = None,
    C_s: float | None = None,
    G: float | None = None,
) -> Prediction:
    """Time = a1 f_app f_cache f_sched + a0, by constants fitted on this machine for this kernel.

    unit: of a1 and a0; in seconds the machine must have a clock. f_app: of the whole program, its work T1 if left out;
    it is shared out over the launches by work, so that each has its own f_sched. m: the working set in global memory
    in bytes; f_cache is 1 if it is left out, else G must be given, and C_s is the machine's first cache if left out.
    The prediction's symbols a1 and a0 are in cycles.
    counts: of the program.
    a1: time of a unit of f_app f_cache f_sched.
    a0: time that does not depend on them.
    C_s: bytes of the cache.
    G: time of an access that misses over that of one that hits.

    Raises ModelError for a value outside its domain, and where a clock, a cache or G is needed and not there.
    """
    scale = 1.0
    if unit == "s":
        if machine.clock_hz is None:
            raise ModelError(f"calibrated: machine {machine.name} has no clock_hz, so a1 and a0 must be in cycles")
        scale = machine.clock_hz
    elif unit != "cycles":
        raise ModelError(f"calibrated: unit = {unit!r}: must be 's' or 'cycles'")
    f_cache = _cache_factor(machine, m, C_s, G)
    values = CALIBRATED.formula.evaluate(
        a1=A1.check("calibrated", a1) * scale,
        a0=A0.check("calibrated", a0) * scale,
        f_app=counts.work if f_app is None else f_app,
        f_cache=f_cache,
        f_sched=_mean_scheduling_factor(machine, counts),
    )
    return values.prediction(machine.clock_hz)


def _mean_scheduling_factor(machine: Machine, counts: Counts) -> float:
    """f_sched over launches, by the part of the work that each does."""
    of = scheduled_launches(machine, counts)
    f_sched = scheduling_factor(of.B_r, of.B_a, machine.processors, machine.cores.cores_per_group)
    return float(np.average(f_sched, weights=of.T1 if of.T1.any() else None))


def _cache_factor(machine: Machine, m: float | None, C_s: float | None, G: float | None) -> float:
    if m is None:
        return 1.0
    if G is None:
        raise ModelError("calibrated: G: must be given with m; fit it to times over working sets (fit_cache)")
    if C_s is None:
        cache = machine.memory.l1 or machine.memory.l2
        if cache is None:
            raise ModelError(f"calibrated: C_s: must be given with m; machine {machine.name} has no cache")
        C_s = cache.sets * cache.ways * machine.chunk_bytes
    return float(cache_factor(m, C_s, G))


CALIBRATED = Model(
    label="calibrated",
    formula=Formula("calibrated", _terms, (A1, A0, F_APP, F_CACHE, F_SCHED), SOURCE, combine="sum", unit="s"),
    prediction=calibrated,
    constants=("a1", "a0", "m", "C_s", "G", "f_app"),
)
