"""The table that warps' ticks are booked in, and what becomes of it."""

import numpy as np

from simtmm.engine.fast import layout as at
from simtmm.engine.fast.launches.tables import Integers, table
from simtmm.errors import EngineError
from simtmm.machine import Machine
from simtmm.stalls import COUNTS, LAUNCH_COUNTS, REASONS, Count, Reason, Stalls, launch_counts, launches_of
from simtmm.trace.streamed import AnyWorkload
from simtmm.workload import LARGEST


class Booked:
    """Where warps' ticks went so far: int64[lanes, places + 1, len(Booked)]."""

    def __init__(self, machine: Machine, workload: AnyWorkload, lanes: int) -> None:
        self._machine = machine
        self._workload = workload
        self._places = workload.known_places
        self.table = table(lanes, len(self._places) + 1, len(at.Booked))
        self._launches: list[Integers] = []
        self._counts: list[Integers] = []
        self._active: list[int] = []

    def end_launch(self, active: int) -> None:
        """Keep the launch's sums. active: ticks for which core groups held warps, -1 where that is not known."""
        whole = self.table.sum(axis=0)
        self._launches.append(whole[:, : len(REASONS)].sum(axis=0))
        self._counts.append(launch_counts(self._places, self._counted(whole)))
        self._active.append(active)

    def _counted(self, whole: Integers) -> Integers:
        """int64[places + 1, COUNTS]."""
        counts = np.zeros((len(whole), len(COUNTS)), np.int64)
        counts[:, Count.INSTRUCTIONS] = whole[:, Reason.ISSUING] // self._machine.durations.issue
        counts[:, Count.REQUESTS :] = whole[:, at.Booked.requests :]
        return counts

    def stalls(self, ticks: int) -> Stalls:
        """All of it. ticks: of the launches, their overheads apart.

        Raises EngineError where the sums may not have fitted 64 bits.
        """
        if ticks * min(self._workload.warps, self._machine.cores.groups * self._machine.warps_per_group) > LARGEST:
            raise EngineError(
                f"{self._workload.origin} on {self._machine.name}: its warps take 2^63 ticks and more together, which "
                "stalls can't tell: leave them out, or use fewer ticks_per_cycle"
            )
        whole = self.table.sum(axis=0)
        return Stalls(
            whole[:, : len(REASONS)].copy(),
            self._counted(whole),
            launches_of(self._launches, len(REASONS)),
            self._places,
            launches_of(self._counts, len(LAUNCH_COUNTS)),
            np.array(self._active, np.int64),
        )
