"""How many threads per core hide the latency of memory by the TMM, and how many there can be.

Source: Ma, dissertation (2014), Eq (3.2) and Table 4.1.
"""

from dataclasses import dataclass
from math import inf

from simtmm.machine import Machine
from simtmm.trace.counts import Counts
from simtmm.trace.io import Trace


@dataclass(frozen=True)
class Hiding:
    """How many threads per core hide the latency, and how many there can be.

    needed: T at which the printed form's memory term no longer binds.
    needed_warps: the same for the form in which warps wait, in threads per core as well.
    in_use: T.
    limits: what bounds T, in threads per core, by name.
    largest_latency: the L up to which the T in use hides it [cycles].
    """

    needed: float
    needed_warps: float
    in_use: float
    limits: dict[str, float]
    largest_latency: float

    @property
    def limit(self) -> float:
        """The least of the limits that the machine sets: X and Z / (Q S)."""
        return min(value for name, value in self.limits.items() if name != "parallelism")


def hiding(machine: Machine, counts: Counts, shared_memory_per_thread: float = 0.0) -> Hiding:
    """The threads per core that hide a program's latency; shared_memory_per_thread: S, bytes."""
    T1, Tinf, M, T = counts.work, counts.span, counts.memory_operations, counts.threads_per_core
    return hiding_of(machine, T1, Tinf, M, T, shared_memory_per_thread)


def hiding_of(machine: Machine, T1: float, Tinf: float, M: float, T: float, S: float) -> Hiding:
    """The threads per core that hide the latency, from Eq (3.2) with its memory term no larger than the rest.

    S: bytes of shared memory that a thread uses.
    """
    P, L, W, Q = (
        machine.processors,
        machine.memory.latency,
        machine.cores.warp_width,
        machine.cores.cores_per_group,
    )
    Z = machine.resources.shared_memory
    rest = max(T1 / P, Tinf)  # Eq. (3.2) without its third term
    needed = M * L / (rest * P) if M else 0.0  # M L / (T P) = rest
    needed_warps = needed * W  # M L / N_W = rest, W threads to a warp
    limits = {"threads per core": float(machine.cores.max_threads_per_core)}  # T <= X
    if S > 0 and Z is not None:
        limits["shared memory"] = Z / (Q * S)  # T <= Z / (Q S)
    limits["parallelism"] = T1 / (Tinf * P) if Tinf else inf  # T <= T1 / (Tinf P)
    return Hiding(needed, needed_warps, T, limits, rest * P * T / M if M and T else inf)


def hiding_of_trace(trace: Trace, machine: Machine, counts: Counts) -> Hiding:
    """The threads per core that hide a trace's latency; S is that of the launch whose threads use most.

    counts: of the trace.
    """
    launches = trace.info.launches
    S = max((launch.shared_memory_bytes / launch.threads_per_block for launch in launches), default=0.0)
    return hiding(machine, counts, S)
