"""Which engine has the result first: compiling the fast one takes longer than a small program does in SimPy."""

import numpy as np

from simtmm.machine import Machine
from simtmm.workload import COMPUTE, Workload

AUTO = "auto"
SMALL = 20_000  # operations, or instructions where each is granted by itself: about a second in SimPy


def quickest(machine: Machine, workload: Workload) -> str:
    """The engine that has the result first: "reference" for a small workload, if "fast" is not compiled for it yet.

    Both give the same result; which one ran stands in it.
    """
    if _grants(machine, workload) > SMALL:
        return "fast"
    from simtmm.engine.fast.launch import is_compiled  # late: not every command simulates

    return "fast" if is_compiled(machine, workload) else "reference"


def _grants(machine: Machine, workload: Workload) -> int:
    """About how often the reference engine grants a port."""
    if machine.scheduling.switch == "on-stall":
        return len(workload.kind)
    return int(np.where(workload.kind == COMPUTE, workload.amount, 1).sum())
