"""What was in an imported file, counted while it is read, and what in it is doubtful."""

from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.machine.addresses import LOCAL_BASE
from simtmm.trace.importers import warps as table
from simtmm.trace.schema import KINDS, Kind

_SHARED = np.isin(np.arange(len(KINDS)), [Kind.SHARED_LOAD, Kind.SHARED_STORE, Kind.SHARED_ATOMIC])
_GLOBAL = np.isin(np.arange(len(KINDS)), [Kind.LOAD, Kind.ASYNC, Kind.STORE, Kind.ATOMIC])
_OFFSET = (1 << 32) - 1  # of an access to shared memory, the array's site above it


class Statistics:
    """Counts of warps and of their accesses by space."""

    def __init__(self) -> None:
        self.warps = 0
        self.accesses = Counter[str](dict.fromkeys(["global", "shared", "local"], 0))  # of warps, not of threads
        self.barriers = 0
        self.unknown = Counter[str]()  # opcodes, and how many instructions of warps have them
        self.at_zero = 0  # accesses of which no lane has an address
        self._beyond = 0  # accesses beyond the shared memory that a block declares
        self._furthest = 0

    def add(
        self, operations: table.Operations, declared: int | npt.NDArray[np.int64], warps: int | None = None
    ) -> None:
        """Take in operations.

        declared: bytes of shared memory of a block, for all or for each operation.
        warps: how many of the warps are counted now; all if left out, fewer where the last ones go on in what follows.
        """
        counts = operations.counts
        kind, value = (each[: counts[table.Counts.operations]] for each in (operations.kind, operations.value))
        self.warps += int(counts[table.Counts.warps]) if warps is None else warps
        self.barriers += int(np.count_nonzero(kind == Kind.BARRIER))
        pooled = np.flatnonzero(table.POOLED[kind])
        if not len(pooled):
            return
        begins = value[pooled]
        pool = operations.pool[: counts[table.Counts.pool]]
        highest = np.maximum.reduceat(pool, begins)  # the values of an operation end where the next one's begin
        of = kind[pooled]
        local = _GLOBAL[of] & (highest >= LOCAL_BASE)
        shared = _SHARED[of]
        self.accesses["local"] += int(np.count_nonzero(local))
        self.accesses["shared"] += int(np.count_nonzero(shared))
        self.accesses["global"] += int(np.count_nonzero(_GLOBAL[of] & ~local))
        self.at_zero += int(np.count_nonzero(_GLOBAL[of] & (highest == 0)))
        ends = (highest[shared] & _OFFSET) + operations.width[pooled[shared]]
        room = declared if isinstance(declared, int) else declared[pooled[shared]]
        beyond = ends > room
        self._beyond += int(np.count_nonzero(beyond))
        self._furthest = max(self._furthest, int(ends[beyond].max(initial=0)))

    @property
    def doubts(self) -> list[str]:
        """What a reader of a result must know."""
        doubts = []
        if self.at_zero:
            doubts.append(
                f"{self.at_zero:,} accesses of warps have no address but 0: the tracer may have lost their addresses"
            )
        if self._beyond:
            doubts.append(
                f"{self._beyond:,} accesses of warps to shared memory are beyond what their blocks declare, up to byte "
                f"{self._furthest:,}: more blocks may be resident here than were on the GPU"
            )
        return doubts

    def to_dict(self) -> dict[str, Any]:
        """For people, and the provenance of the trace."""
        return {
            "warps": self.warps,
            "accesses": dict(self.accesses),
            "barriers": self.barriers,
            "unknown_opcodes": dict(sorted(self.unknown.items())),
        }
