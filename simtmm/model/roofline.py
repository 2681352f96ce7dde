"""Roofline: a program takes as long as its work at peak rate or its bytes at peak bandwidth, whichever is more.

Source: Williams, Waterman, Patterson, "Roofline: an insightful visual performance model for multicore
architectures", Communications of the ACM 52(4), 2009: attainable rate = min(peak rate, bandwidth * operational
intensity). Written here as a time. Latency has no place in it: threads are assumed to hide it.

Units: operations, bytes, cycles. A core does one operation a cycle, as in the other models.
"""

from math import inf

from simtmm.machine import Machine
from simtmm.model.equations.formula import Formula, Symbol
from simtmm.model.equations.functions import Value
from simtmm.model.equations.symbols import T1, P
from simtmm.model.model import Model
from simtmm.result import Prediction
from simtmm.trace.counts import Counts

B = Symbol("B", "bytes moved to and from global memory", "bytes")
BETA = Symbol("beta", "bandwidth of global memory", "bytes per cycle", above=True, latex="\\beta")


def _terms(T1: Value, P: Value, B: Value, beta: Value) -> dict[str, Value]:
    return {"compute": T1 / P, "memory": B / beta}


def bandwidth(machine: Machine) -> float:
    """Bytes a cycle that global memory delivers; infinite where nothing limits it.

    What limits the simulated machine comes first: partitions that take `memory.service` for a chunk, and memory ports
    of core groups that take `memory.port_interval`, or the tags of their pipe. Where none does, `peak_bandwidth` over
    `clock_hz`.
    """
    memory = machine.memory
    limits = [
        units * machine.chunk_bytes / interval
        for units, interval in (
            (memory.partitions, memory.service),
            (machine.cores.groups * memory.ports, memory.port_interval),
            (machine.cores.groups, (memory.pipe.tag_interval / memory.port_chunks) if memory.pipe else 0),
        )
        if interval > 0
    ]
    if not limits and machine.peak_bandwidth is not None and machine.clock_hz is not None:
        limits.append(machine.peak_bandwidth / machine.clock_hz)
    return min(limits, default=inf)


def roofline(machine: Machine, counts: Counts) -> Prediction:
    """max(T1 / P, B / beta) cycles; B counts a whole chunk for each memory operation, cache hits included, and also
    where the machine moves sectors of it.

    Further symbols: I = T1 / B, the operational intensity, where bytes are moved, and I_ridge = P / beta, that from
    which on work binds.
    """
    values = ROOFLINE.formula.evaluate(
        T1=counts.work,
        P=machine.processors,
        B=counts.memory_operations * machine.chunk_bytes,
        beta=bandwidth(machine),
    )
    beta, moved = float(values.values["beta"]), float(values.values["B"])
    intensity = {"I": counts.work / moved} if moved else {}
    return values.prediction(machine.clock_hz, intensity | {"I_ridge": machine.processors / beta})


ROOFLINE = Model(
    label="roofline",
    formula=Formula(
        "roofline", _terms, (T1, P, B, BETA), source="Williams, Waterman, Patterson (CACM 2009), rate = min(P, beta I)"
    ),
    prediction=roofline,
)
