"""The mbarriers that threads use."""

import numpy as np

from simtmm.trace.schema import PEER_BIT, Events, Kind
from simtmm.workload import MOST_MBARRIER_NUMBER, NUMBER_SHIFT


def mbarriers_of(events: Events) -> list[int]:
    """The bytes of shared memory at which they lie, ascending. Barriers with numbers of threads lie behind all of it.

    events: EVENT[n].
    """
    values = events["value"][events["kind"] == Kind.MBARRIER]
    offsets = np.unique(values >> np.uint64(NUMBER_SHIFT) & np.uint64(MOST_MBARRIER_NUMBER))
    return [offset for offset in offsets.tolist() if offset < 1 << PEER_BIT]
