"""PRAM: memory takes no time.

Source: Ma, dissertation (2014), section 3.2, "for PRAM algorithms, S_P = min(P, T1 / Tinf)"; Eq (4.2) is an
instance. Units: operations, a core doing one a cycle.
"""

from simtmm.machine import Machine
from simtmm.result import Prediction
from simtmm.trace.counts import Counts


def pram(machine: Machine, counts: Counts) -> Prediction:
    """T_P = max(T1 / P, Tinf) cycles on P cores."""
    T1, Tinf, P = counts.work, counts.span, machine.processors
    terms = {"compute": T1 / P, "span": float(Tinf)}
    T_P = max(terms.values())  # as Eq. (4.2)
    return Prediction(
        model="pram",
        cycles=T_P,
        bound=max(terms, key=terms.__getitem__),
        terms=terms,
        symbols={"T1": T1, "Tinf": Tinf, "P": P, "S_P": T1 / T_P if T_P else 1.0},
        source="000 (Ma, dissertation), section 3.2",
        clock_hz=machine.clock_hz,
    )
