"""What places of a program have in common: their part of the time, its reasons, and what is counted there."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.machine import Machine
from simtmm.report.stalls import WHAT_WARPS_DO
from simtmm.stalls import LOADS, Count, Reason, Stalls

Integers = npt.NDArray[np.int64]

GROUPS = {
    "issue": (Reason.ISSUING, Reason.NOT_GRANTED, Reason.PIPE_QUEUE),
    "instruction latency": (Reason.INSTRUCTION_LATENCY,),
    "shared memory": (Reason.BANK_CONFLICTS,),
    "queues": (
        Reason.PORT_QUEUE,
        Reason.SHARED_L1_QUEUE,
        Reason.L2_QUEUE,
        Reason.LAST_LEVEL_QUEUE,
        Reason.MEMORY_QUEUE,
        Reason.ATOMICS_QUEUE,
        Reason.TURNAROUND,
        Reason.ROWS,
        Reason.OUTSTANDING,
    ),
    "latencies": (
        Reason.L1_LATENCY,
        Reason.SHARED_L1_LATENCY,
        Reason.L2_LATENCY,
        Reason.LAST_LEVEL_LATENCY,
        Reason.MEMORY_LATENCY,
        Reason.LINE_IN_FLIGHT,
        Reason.FIRST_ACCESS,
        Reason.COPIES,
    ),
    "barrier": (Reason.BARRIER, Reason.MBARRIER, Reason.PRODUCER, Reason.CONSUMER, Reason.REGISTERS),
    "launch": (Reason.LAUNCH,),
}
"""Reasons that are shown in one colour."""

GROUP_OF = {reason: name for name, reasons in GROUPS.items() for reason in reasons}
MOST_REASONS = 4  # of a place
MOST_ARRAYS = 4


@dataclass(frozen=True, eq=False)
class Measured:
    """The stalls of a run, to be summed over places.

    spent: warps' ticks by place. whole: all of them. looked: chunks of loads, which look into caches, by place.
    """

    stalls: Stalls
    machine: Machine
    spent: Sequence[int]
    whole: int
    looked: Integers

    @classmethod
    def of(cls, stalls: Stalls, machine: Machine) -> "Measured":
        """Of a run on a machine."""
        chunks = stalls.counts[:, Count.CHUNKS]
        is_load = np.append(stalls.places.are_of(LOADS), False)
        spent = stalls.ticks.sum(axis=1).tolist()
        return cls(stalls, machine, spent, sum(spent), np.where(is_load, chunks, 0))

    @property
    def numbers(self) -> list[int]:
        """The places where anything happened, without what precedes a warp's first operation."""
        stalls = self.stalls
        return np.flatnonzero(stalls.ticks[:-1].any(axis=1) | stalls.counts[:-1].any(axis=1)).tolist()

    def share(self, numbers: Sequence[int]) -> float:
        """The part of warps' time that goes to places."""
        return sum(self.spent[number] for number in numbers) / self.whole if self.whole else 0.0

    def summed(self, numbers: Sequence[int], most: int = MOST_REASONS) -> dict[str, Any]:
        """What JSON shows of places together; what there is nothing of, or nothing to divide by, is left out.

        most: reasons that are named.
        """
        stalls = self.stalls
        ticks, counts = stalls.ticks[numbers].sum(axis=0), stalls.counts[numbers].sum(axis=0)
        looked = int(self.looked[numbers].sum())
        l1_hits, shared_l1_hits, l2_hits = (
            int(counts[count]) for count in (Count.L1_HITS, Count.SHARED_L1_HITS, Count.L2_HITS)
        )
        requests, chunks = int(counts[Count.REQUESTS]), int(counts[Count.CHUNKS])
        entry: dict[str, Any] = {
            "share": short(self.share(numbers)),
            "reasons": _most(ticks, most),
            "instructions": int(counts[Count.INSTRUCTIONS]),
        }
        if requests:
            entry |= {"requests": requests, "chunks": chunks}
        if looked and self.machine.memory.l1:
            entry["l1"] = short(l1_hits / looked)
        if looked > l1_hits + shared_l1_hits and self.machine.memory.l2:
            entry["l2"] = short(l2_hits / (looked - l1_hits - shared_l1_hits))
        known = stalls.places.threads
        if known is not None:
            executions, threads, requested, _ = known[numbers].sum(axis=0).tolist()
            if executions:
                entry["threads"] = short(threads / executions)
            if requested:
                entry["asked"] = requested
        return entry

    def arrays_of(self, numbers: Sequence[int]) -> list[str]:
        """The arrays that are accessed at places, those with most time first."""
        names = self.stalls.places.arrays
        of_arrays: dict[int, int] = {}
        for number in numbers:
            array = number % len(names)
            if array:
                of_arrays[array] = of_arrays.get(array, 0) + self.spent[number]
        ordered = [names[array] for array in sorted(of_arrays, key=lambda array: -of_arrays[array])]
        left = len(ordered) - MOST_ARRAYS
        return ordered[:MOST_ARRAYS] + ([f"{left} more"] if left > 0 else [])


def reasons(stalls: Stalls) -> list[dict[str, Any]]:
    """Each reason with its part of warps' time, in the order of groups; those without any are left out."""
    ticks = stalls.ticks.sum(axis=0)
    whole = int(ticks.sum())
    entries = []
    for group, members in GROUPS.items():
        for reason in sorted(members, key=lambda reason: -int(ticks[reason])):
            name, others, what = WHAT_WARPS_DO[reason]
            if ticks[reason]:
                share = int(ticks[reason]) / whole
                entries.append({"name": name, "group": group, "share": share, "what": what, "nsight": others})
    return entries


def short(value: float) -> float:
    """With the digits that a reader may want, so that a page of thousands of lines stays small."""
    return float(f"{value:.5g}")


def _most(ticks: Integers, most: int) -> list[tuple[str, str, float]]:
    """The reasons with most ticks, as (name, group, part of them)."""
    whole = int(ticks.sum())
    found: Iterable[Reason] = sorted(Reason, key=lambda reason: -int(ticks[reason]))[:most]
    return [
        (WHAT_WARPS_DO[reason][0], GROUP_OF[reason], short(int(ticks[reason]) / whole))
        for reason in found
        if ticks[reason]
    ]
