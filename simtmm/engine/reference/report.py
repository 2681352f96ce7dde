"""What a run reports, while it grows (docs/machine.md, section 7)."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from simtmm.engine.reference.memory.path_ticks import Way
from simtmm.engine.reference.stalls import Unbooked
from simtmm.engine.reference.traffic import InUse, OverTime
from simtmm.stalls import Places


@dataclass
class Report:
    """The counts of section 7.

    intervals: the timeline's rows, None without one. launch_begin: the first tick of the present launch. bookings, way:
    where warps' ticks go, and those of accesses. over_time, units: chunks over time, and what goes on
    beside warps, of a run with a timeline. begun:
    int64[blocks], takes the tick of its launch at which each block is placed; None where nobody asks.
    """

    time: dict[str, int]
    issued: int = 0
    transactions: int = 0
    l1_hits: int = 0
    l2_hits: int = 0
    l2_sectors: int = 0
    memory_sectors: int = 0
    last_level_hits: int = 0
    last_level_sectors: int = 0
    shared_l1_hits: int = 0
    shared_l1_sectors: int = 0
    port_busy: int = 0
    warps_done: int = 0
    intervals: list[tuple[int, ...]] | None = None
    launch_begin: int = 0
    over_time: OverTime | None = None
    units: InUse | None = None
    begun: npt.NDArray[np.int64] | None = None
    bookings: Unbooked = field(default_factory=lambda: Unbooked(Places(())))
    way: Way = field(default_factory=Way)

    def rows(self) -> npt.NDArray[np.int64]:
        """The intervals as an array."""
        return np.array(self.intervals, dtype=np.int64).reshape(-1, 8)
