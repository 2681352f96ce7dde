"""The table that warps' ticks are booked in, and what becomes of it."""

import numpy as np

from simtmm.engine.fast import layout as at
from simtmm.engine.fast.tables import Integers, table
from simtmm.errors import EngineError
from simtmm.machine import Machine
from simtmm.stalls import COUNTS, REASONS, Count, Reason, Stalls
from simtmm.trace.streamed import AnyWorkload
from simtmm.workload import LARGEST


class Booked:
    """Where warps' ticks went so far: int64[lanes, places + 1, BOOKED_*]."""

    def __init__(self, machine: Machine, workload: AnyWorkload, lanes: int) -> None:
        self._machine = machine
        self._workload = workload
        self._places = workload.known_places
        self.table = table(lanes, len(self._places) + 1, at.BOOKED_ROW)
        self._launches: list[Integers] = []

    def end_launch(self) -> None:
        """Keep the launch's sums."""
        sums = self.table[:, :, : len(REASONS)].sum(axis=(0, 1))
        self._launches.append(sums)

    def stalls(self, ticks: int) -> Stalls:
        """All of it. ticks: of the whole run. Raises EngineError where the sums may not have fitted 64 bits."""
        if ticks * min(self._workload.warps, self._machine.cores.groups * self._machine.warps_per_group) > LARGEST:
            raise EngineError(
                f"{self._workload.origin} on {self._machine.name}: its warps take 2^63 ticks and more together, which "
                "stalls can't tell: leave them out, or use fewer ticks_per_cycle"
            )
        whole = self.table.sum(axis=0)
        counts = np.zeros((len(whole), len(COUNTS)), np.int64)
        counts[:, Count.INSTRUCTIONS] = whole[:, Reason.ISSUING] // self._machine.durations.issue
        counts[:, Count.REQUESTS :] = whole[:, at.BOOKED_REQUESTS :]
        sums = np.array(self._launches, np.int64).reshape(-1, len(REASONS))
        launches = np.diff(sums, axis=0, prepend=np.zeros((1, len(REASONS)), np.int64))
        return Stalls(whole[:, : len(REASONS)].copy(), counts, launches, self._places)
