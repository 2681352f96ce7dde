"""PRAM: memory takes no time.

Source: Ma, dissertation (2014), section 3.2, "for PRAM algorithms, S_P = min(P, T1 / Tinf)"; Eq (4.2) is an
instance. Units: operations, a core doing one a cycle.
"""

from simtmm.machine import Machine
from simtmm.model.equations.formula import Formula
from simtmm.model.equations.functions import Value
from simtmm.model.equations.symbols import T1, TINF, P
from simtmm.model.model import Model
from simtmm.result import Prediction
from simtmm.trace.counts import Counts


def _terms(T1: Value, Tinf: Value, P: Value) -> dict[str, Value]:
    return {"compute": T1 / P, "span": Tinf}  # T_P = max(T1 / P, Tinf), as Eq. (4.2)


def pram(machine: Machine, counts: Counts) -> Prediction:
    """T_P = max(T1 / P, Tinf) cycles on P cores."""
    values = PRAM.formula.evaluate(T1=counts.work, Tinf=counts.span, P=machine.processors)
    T_P = float(values.total)
    return values.prediction(machine.clock_hz, {"S_P": counts.work / T_P if T_P else 1.0})


PRAM = Model(
    label="PRAM",
    formula=Formula("pram", _terms, (T1, TINF, P), source="000 (Ma, dissertation), section 3.2"),
    prediction=pram,
)
