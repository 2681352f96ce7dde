"""TMM, the Threaded Many-core Memory model: threads hide the latency of memory, if there are enough.

Source: Ma, dissertation (2014), chapter 3, Eq (3.1) to (3.3) and Tables 3.1 and 3.2. The equations stand in O() and
Omega(); their constants are taken as 1, so a time is in cycles if an operation takes one.

The printed form lets each of the T P threads wait for its own M L / (T P) cycles, and M has C words to a transfer. But
when C threads of a warp share one transfer, all of them wait for it, so the transfers in flight fall by C as well,
and the two cancel: coalescing saves transfers and bandwidth, not latency-bound time. `tmm_warps` is the form in
which a warp, not a thread, waits for a transfer. A simulation with memory.transfers = "serial" follows it; with
"pipelined" and no limits on bandwidth an instruction takes L however many chunks it lists.
"""

from simtmm.machine import Machine
from simtmm.model.equations.formula import Formula
from simtmm.model.equations.functions import Value
from simtmm.model.equations.symbols import N_W, T1, TINF, L, M, P, T
from simtmm.model.model import Model
from simtmm.result import Prediction
from simtmm.trace.counts import Counts

SOURCE = "000 (Ma, dissertation), Eq (3.1) to (3.3)"


def _terms(T1: Value, Tinf: Value, M: Value, T: Value, P: Value, L: Value) -> dict[str, Value]:
    return {"compute": T1 / P, "span": Tinf, "memory": M * L / (T * P)}  # T_E / P of Eq. (3.1), and Eq. (3.2)


def _terms_of_warps(T1: Value, Tinf: Value, M: Value, N_W: Value, P: Value, L: Value) -> dict[str, Value]:
    return {"compute": T1 / P, "span": Tinf, "memory": M * L / N_W}


def tmm(machine: Machine, counts: Counts) -> Prediction:
    """T_P = max(T1 / P, Tinf, M L / (T P)) cycles, as printed."""
    values = TMM.formula.evaluate(
        T1=counts.work,
        Tinf=counts.span,
        M=counts.memory_operations,
        T=_waiting(counts, counts.threads_per_core),
        P=machine.processors,
        L=machine.memory.latency,
    )
    T_P, P = float(values.total), machine.processors
    T_E = max(counts.work, float(values.terms["memory"]) * P)  # Eq. (3.1)
    S_P = counts.work / T_P if T_P else 1.0  # Eq. (3.3)
    return values.prediction(machine.clock_hz, {"T_E": T_E, "S_P": S_P})


def tmm_warps(machine: Machine, counts: Counts) -> Prediction:
    """T_P = max(T1 / P, Tinf, M L / N_W) cycles, N_W warps being resident: transfers are waited for by warps."""
    values = TMM_WARPS.formula.evaluate(
        T1=counts.work,
        Tinf=counts.span,
        M=counts.memory_operations,
        N_W=_waiting(counts, counts.warps_in_use),
        P=machine.processors,
        L=machine.memory.latency,
    )
    return values.prediction(machine.clock_hz)


def _waiting(counts: Counts, in_use: float) -> float:
    """The threads or warps that wait at once; without memory operations nobody waits, and any number will do."""
    return in_use if counts.memory_operations else in_use or 1.0


TMM = Model(label="TMM", formula=Formula("tmm", _terms, (T1, TINF, M, T, P, L), SOURCE), prediction=tmm)
TMM_WARPS = Model(
    label="TMM, warps wait",
    formula=Formula(
        "tmm-warps",
        _terms_of_warps,
        (T1, TINF, M, N_W, P, L),
        f"{SOURCE}, with warps instead of threads in the memory term",
    ),
    prediction=tmm_warps,
    form_of="tmm",
)
