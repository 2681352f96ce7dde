"""Stalls of instructions on a changed machine, where they pass while pipes take what was issued.

A workload has of each stall what its pipes do not hide (`scheduling.stalls` = "overlap"), which other pipes change.
"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from simtmm.machine import Machine
from simtmm.stalls import CLASSES
from simtmm.trace.specification import hidden_by_pipes
from simtmm.workload import OF_CLASS, PAUSE, Workload

Integers = npt.NDArray[np.int64]


def restalled(workload: Workload, machine: Machine, other: Machine, times: float = 1.0) -> Workload:
    """The workload of a machine as another one has it, whose pipes may be faster; itself where nothing differs.

    A stall that pipes hide whole is not known, and stays hidden.

    times: as long as stalls are, whatever is hidden of them.
    """
    before, after = hidden_by_pipes(machine), hidden_by_pipes(other)
    if times == 1 and before == after:
        return workload
    pauses = np.flatnonzero(workload.kind == PAUSE)
    if not len(pauses):
        return workload
    amount = workload.amount.copy()
    stalls = np.ceil(times * (amount[pauses] + _hidden(workload, pauses, before)))
    amount[pauses] = np.maximum(1, stalls - _hidden(workload, pauses, after))
    return replace(workload, amount=amount)


def _hidden(workload: Workload, pauses: Integers, beyond_issue: dict[str, float]) -> Integers:
    """What pipes hide of the stall at each pause: of the instructions just before it, all but the first of a class.

    beyond_issue: by class, cycles that an instruction takes its pipe beyond its issue.
    """
    cycles = np.array([beyond_issue.get(name, 0.0) for name in CLASSES])
    if not cycles.any():
        return np.zeros(len(pauses), np.int64)
    are_of_class = (workload.kind >= OF_CLASS) & (workload.kind < OF_CLASS + len(CLASSES))
    each = np.zeros(len(workload.kind) + 1, np.int64)
    chosen = np.flatnonzero(are_of_class)
    of_class = workload.kind[chosen].astype(np.int64) - OF_CLASS
    each[1 + chosen] = np.floor((workload.amount[chosen] - 1) * cycles[of_class])
    until = np.cumsum(each)  # behind that many operations
    begins = np.zeros(len(workload.kind) + 1, bool)  # of instructions in a row
    begins[workload.warp_operations] = True
    begins[1:][~are_of_class] = True
    latest = np.maximum.accumulate(np.where(begins, np.arange(len(begins)), 0))
    return np.asarray(until[pauses] - until[latest[pauses]])
