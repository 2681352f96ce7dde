"""Block scheduling: what it costs that blocks come in whole waves over the core groups.

A machine runs B_a P / Q blocks at once. The last wave takes as long as a full one, so throughput over the requested
blocks B_r is a zigzag with peaks where the waves are full.

Source: Ma, dissertation (2014), Eq (5.3) and (5.13), Fig 5.2 and 6.1; Ma and Chamberlain (ASAP 2012), Eq (2) and (12).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.errors import ModelError
from simtmm.launch import MOST_BLOCKS
from simtmm.machine import Machine
from simtmm.model.equations.domain import checked
from simtmm.model.equations.formula import Floats, Symbol
from simtmm.model.equations.functions import Value, ceiling
from simtmm.model.equations.symbols import P, Q
from simtmm.model.launch.occupancy import B_A, occupancy
from simtmm.trace.counts import Counts
from simtmm.trace.schema import TraceLaunch

B_R = Symbol("B_r", "requested blocks of a launch", "blocks", minimum=1, whole=True)


@checked("f_sched", B_R, B_A, P, Q)
def scheduling_factor(B_r: Value, B_a: Value, P: Value, Q: Value) -> Value:
    """f_sched: time over that of the same work in full waves, at least 1.

    B_r: blocks of the grid.
    B_a: blocks that a core group holds at once.
    P: cores.
    Q: cores of a group.
    """
    # P / Q is never divided out alone: its rounding could tip the ceiling
    return ceiling(B_r * Q / (B_a * P)) * (B_a * P) / (Q * B_r)  # Eq. (5.13)


@dataclass(frozen=True)
class ScheduledLaunches:
    """What the models of chapters 5 and 6 take of each launch; arrays of one element a launch.

    T1: work, M: memory operations. B_r, B_a: requested blocks, and active ones of a core group. T: threads of a core
    while its group holds B_a blocks. Places that stay empty because B_r is small are f_sched's affair and not T's:
    with the threads that are there on average, a launch of few blocks would pay twice.
    """

    T1: Floats
    M: Floats
    B_r: Floats
    B_a: Floats
    T: Floats


def scheduled_launches(machine: Machine, counts: Counts, active_blocks: int | None = None) -> ScheduledLaunches:
    """The launches of a program. active_blocks: the most blocks a group holds, where the user forces fewer.

    Counts without launches are taken as one launch that fills the machine. Raises ModelError for active_blocks < 1.
    """
    if active_blocks is not None:
        B_A.check("active_blocks", active_blocks)
    Q = machine.cores.cores_per_group
    if not counts.launches:
        T = np.array([counts.threads_per_core or 1.0])  # without threads there are no memory operations that wait
        B_r = np.array([float(machine.cores.groups)])
        return ScheduledLaunches(
            np.array([float(counts.work)]), np.array([float(counts.memory_operations)]), B_r, np.ones(1), T
        )
    of = [
        (launch.work, launch.memory_operations, launch.blocks, launch.active_blocks, launch.threads / launch.blocks)
        for launch in counts.launches
    ]
    T1, M, B_r, B_a, T_r = np.array(of, dtype=np.float64).T
    B_a = B_a if active_blocks is None else np.minimum(B_a, active_blocks)
    return ScheduledLaunches(T1, M, B_r, B_a, B_a * T_r / Q)


@dataclass(frozen=True)
class Zigzag:
    """A sweep over requested blocks; arrays of one element for each of them.

    blocks: B_r. f_sched: Eq (5.13). relative_time: f_sched over the least of the sweep, for the same work in all.
    relative_throughput: its inverse, 1 at the best. local_maxima: those of `blocks` at which throughput is no lower
    than with one block less or more, which are the multiples of B_a P / Q. active_blocks: B_a. period: B_a P / Q.
    """

    blocks: npt.NDArray[np.int64]
    f_sched: Floats
    relative_time: Floats
    relative_throughput: Floats
    local_maxima: npt.NDArray[np.int64]
    active_blocks: int
    period: int

    def to_dict(self) -> dict[str, Any]:
        """The whole object, for JSON."""
        return {
            "active_blocks": self.active_blocks,
            "period": self.period,
            "blocks": self.blocks.tolist(),
            "f_sched": self.f_sched.tolist(),
            "relative_time": self.relative_time.tolist(),
            "relative_throughput": self.relative_throughput.tolist(),
            "local_maxima": self.local_maxima.tolist(),
        }


def zigzag(machine: Machine, launch: TraceLaunch, blocks: npt.ArrayLike = range(1, 91)) -> Zigzag:
    """Throughput over requested blocks, for a launch's threads of a block, registers and shared memory.

    The launch's own grid does not count. Raises MachineError where no block fits, ModelError for a block count that
    is none.

    launch: its threads of a block, registers and shared memory.
    blocks: numbers of requested blocks, shape (points,).
    """
    B_r = np.atleast_1d(B_R.check("blocks", blocks))
    if not B_r.size:
        raise ModelError("blocks = []: must be at least one count")
    if B_r.max() > MOST_BLOCKS:
        raise ModelError(f"blocks: B_r = {B_r.max():.12g}: must be at most {MOST_BLOCKS}")
    P, Q, B_a = machine.processors, machine.cores.cores_per_group, occupancy(machine, launch).active_blocks
    f_sched = scheduling_factor(B_r, B_a, P, Q)
    fewer = np.where(B_r > 1, scheduling_factor(np.maximum(B_r - 1, 1), B_a, P, Q), np.inf)
    more = scheduling_factor(B_r + 1, B_a, P, Q)
    relative = f_sched / f_sched.min()
    whole = B_r.astype(np.int64)
    peaks = whole[(f_sched <= fewer) & (f_sched <= more)]
    return Zigzag(whole, f_sched, relative, 1 / relative, peaks, B_a, B_a * machine.cores.groups)
