"""Launch configurations that a machine can hold, in order of their time by the integrated framework.

Source: Ma, dissertation (2014), section 6.1 (the trade-off between sub-block size, threads and active blocks),
Eq (5.2), (5.13) and (6.2).
"""

from dataclasses import dataclass, fields
from typing import Literal

import numpy as np
import numpy.typing as npt

from simtmm.errors import ModelError
from simtmm.machine import Machine
from simtmm.model.applications.integrated_apsp import memory_operations, requested_blocks, shared_memory, work
from simtmm.model.equations.formula import Floats, Symbol
from simtmm.model.equations.functions import Value
from simtmm.model.equations.symbols import SUB_BLOCK
from simtmm.model.integrated import INTEGRATED, INTEGRATED_SUM
from simtmm.model.launch.occupancy import B_A, T_R, occupancies
from simtmm.model.launch.scheduling import B_R, scheduling_factor

MOST_THREADS = Symbol("most_threads", "threads of a block that find work", "threads", minimum=1)


@dataclass(frozen=True)
class Configurations:
    """Launch configurations that fit, arrays of one length, the fastest first.

    blocks: B_r. threads_per_block: T_r. size: S_D. active_blocks: B_a. threads_per_core: T, while a group holds B_a
    blocks. f_sched: Eq (5.13). cycles: Eq (6.2). bound: the larger term.
    """

    blocks: Floats
    threads_per_block: Floats
    size: Floats
    active_blocks: Floats
    threads_per_core: Floats
    f_sched: Floats
    cycles: Floats
    bound: npt.NDArray[np.str_]

    def __len__(self) -> int:
        return len(self.cycles)


@dataclass(frozen=True)
class Refused:
    """Launch configurations that do not fit, arrays of one length, in the order they were given, and the resource
    that each lacks: those of `occupancies`, or "work" where a block has more threads than find any.
    """

    blocks: Floats
    threads_per_block: Floats
    size: Floats
    resource: npt.NDArray[np.str_]

    def __len__(self) -> int:
        return len(self.resource)


@dataclass(frozen=True)
class RankedConfigurations:
    """What `ranked_configurations` gives."""

    feasible: Configurations
    refused: Refused

    @property
    def best(self) -> dict[str, float | str]:
        """The fastest configuration; of equally fast ones that with the fewest threads, then blocks."""
        return {field.name: getattr(self.feasible, field.name)[0].item() for field in fields(Configurations)}


def ranked_configurations(  # noqa: PLR0913 - a letter of the equations each
    machine: Machine,
    *,
    T1: Value,
    M: Value,
    B_r: Value,
    T_r: Value,
    S_D: Value = 1,
    Z_B: Value = 0,
    R_T: Value = 0,
    most_threads: Value = np.inf,
    active_blocks: Value = np.inf,
    combine: Literal["max", "sum"] = "max",
) -> RankedConfigurations:
    """The configurations of a kernel in order of their time by Eq (6.2).

    All values are numbers or arrays that broadcast, and each element of their common shape is a configuration: T1
    operations and M transfers in B_r blocks of T_r threads, each block with Z_B bytes of shared memory, each thread
    with R_T registers. For a grid give each list its own axis. S_D: the size that T1, M, B_r and Z_B are for, reported
    with the answer. most_threads: of a block, beyond which threads have no work. active_blocks: the most blocks of a
    group, where they are forced (occupancy.shared_memory_for). combine: "max" or "sum" of computing and memory.

    Raises ModelError for a value outside its domain, and where no configuration fits.
    """
    model = {"max": INTEGRATED, "sum": INTEGRATED_SUM}.get(combine)
    if model is None:
        raise ModelError(f"configurations: combine = {combine!r}: must be 'max' or 'sum'")
    T_r = T_R.check("configurations", T_r)
    held = occupancies(machine, T_r, R_T, Z_B)
    useful = MOST_THREADS.check("configurations", most_threads)
    forced = B_A.check("configurations", np.where(np.isinf(active_blocks), 1, active_blocks))
    forced = np.where(np.isinf(active_blocks), np.inf, forced)
    work, transfers, blocks, threads, size, active, bound, useful, forced = (
        part.ravel()
        for part in np.broadcast_arrays(
            np.asarray(T1, dtype=np.float64), np.asarray(M, dtype=np.float64), B_R.check("configurations", B_r), T_r,
            SUB_BLOCK.check("configurations", S_D), held.active_blocks, held.bound, useful, forced,
        )
    )  # fmt: skip
    resource = np.where(active == 0, bound, np.where(threads > useful, "work", ""))
    fits = resource == ""
    refused = Refused(blocks[~fits], threads[~fits], size[~fits], resource[~fits])
    if not fits.any():
        names, numbers = np.unique(refused.resource, return_counts=True)
        which = ", ".join(f"{name} ({number})" for name, number in zip(names, numbers, strict=True))
        raise ModelError(
            f"configurations: machine {machine.name}: none of {len(refused)} configurations fits; lacking: {which}"
        )
    P, Q = machine.processors, machine.cores.cores_per_group
    B_a = np.minimum(active, forced)[fits]
    T = B_a * threads[fits] / Q
    values = model.formula.evaluate(
        T1=work[fits], M=transfers[fits], L=machine.memory.latency, T=T, B_r=blocks[fits], B_a=B_a, P=P, Q=Q
    )
    f_sched = scheduling_factor(blocks[fits], B_a, P, Q)
    order = np.lexsort((blocks[fits], threads[fits], values.total))
    feasible = Configurations(blocks[fits], threads[fits], size[fits], B_a, T, f_sched, values.total, values.bound)
    return RankedConfigurations(
        Configurations(**{field.name: getattr(feasible, field.name)[order] for field in fields(Configurations)}),
        refused,
    )


def ranked_apsp_configurations(
    machine: Machine,
    n: int,
    S_D: npt.ArrayLike,
    T_r: npt.ArrayLike,
    R_T: int = 0,
    *,
    C: float | None = None,
    combine: Literal["max", "sum"] = "max",
) -> RankedConfigurations:
    """The configurations of all-pairs shortest paths of n vertices: each size S_D with each T_r threads of a block.

    Three sub-blocks are in shared memory, and a thread needs an element at least. C: words of a transfer, the
    machine's if left out; 1 gives the measured knees (integrated_apsp.py). Raises ModelError as
    `ranked_configurations` does.
    """
    size = SUB_BLOCK.check("configurations", S_D).ravel()[:, None]
    threads = T_R.check("configurations", T_r).ravel()[None, :]
    return ranked_configurations(
        machine,
        T1=work(n),
        M=memory_operations(n, size, machine.memory.chunk_words if C is None else C),
        B_r=requested_blocks(n, size),
        T_r=threads,
        S_D=size,
        Z_B=shared_memory(size, machine.memory.word_bytes),
        R_T=R_T,
        most_threads=size**2,
        combine=combine,
    )
