"""Engines: functions that simulate a Workload on a Machine. Each follows docs/machine.md to the tick."""

import importlib
from collections.abc import Callable
from typing import Protocol, cast

import numpy as np

from simtmm.errors import EngineError, WorkloadError, nearest
from simtmm.machine import Machine
from simtmm.result import Result
from simtmm.workload import Workload

Progress = Callable[[int, int], None]

ENGINES = {"fast": "simtmm.engine.fast", "reference": "simtmm.engine.reference"}
DEFAULT = "fast"


class Engine(Protocol):
    """The one function a module named in ENGINES must have."""

    def __call__(
        self, machine: Machine, workload: Workload, *, breakdown: bool, progress: Progress | None
    ) -> Result: ...


def simulate(
    machine: Machine,
    workload: Workload,
    engine: str = DEFAULT,
    *,
    breakdown: bool = True,
    progress: Progress | None = None,
) -> Result:
    """Run a workload on a machine and report what section 7 of the machine rules lists.

    engine: a name in ENGINES. breakdown: False leaves `Result.time` out. progress: called now and then with
    (warps done, warps in all).

    Raises EngineError for an unknown engine and WorkloadError for a block that fits no core group.
    """
    if engine not in ENGINES:
        raise EngineError(f"engine {engine!r}: unknown{nearest(engine, ENGINES)}")
    check_fits(machine, workload)
    run = cast(Engine, importlib.import_module(ENGINES[engine]).simulate)
    return run(machine, workload, breakdown=breakdown, progress=progress)


def check_fits(machine: Machine, workload: Workload) -> None:
    """Raise WorkloadError if some block fits no empty group of the machine (machine rules, section 6)."""
    warps = np.diff(workload.block_warps)
    too_large = np.flatnonzero(warps > machine.warps_per_group)
    if len(too_large):
        block = int(too_large[0])
        launch = int(np.searchsorted(workload.launch_blocks, block, side="right")) - 1
        raise WorkloadError(
            f"{workload.origin}: launch {launch}, block {block - int(workload.launch_blocks[launch])}: "
            f"{int(warps[block])} warps of {machine.cores.warp_width} threads fit no core group of "
            f"{machine.name}, which holds at most {machine.warps_per_group} warps: launch smaller blocks"
        )
