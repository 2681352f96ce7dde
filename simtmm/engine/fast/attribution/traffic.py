"""Chunks over time: how many pass each level of memory in stretches of a run (docs/machine.md, section 7)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from typing import Any

import numpy as np

from simtmm.engine.fast.launches.tables import table
from simtmm.native import inlined
from simtmm.timeline import MOST_STRETCHES, TRAFFIC, Traffic

LOADS, OTHERS, L1_HITS, L2_LOADS, L2_STORES, L2_HITS, MEMORY, L2_SECTORS, MEMORY_SECTORS = (
    np.int64(column) for column in range(9)
)
LAST_LEVEL_LOADS, LAST_LEVEL_STORES, LAST_LEVEL_HITS, LAST_LEVEL_SECTORS = (np.int64(column) for column in range(9, 13))
SHARED_L1_LOADS, SHARED_L1_HITS, SHARED_L1_SECTORS = (np.int64(column) for column in range(13, len(TRAFFIC)))
SHIFT, BEGIN = range(2)  # of the row behind the stretches: a stretch is 1 << SHIFT ticks; the launch's first tick


@inlined
def note(s, column, t, chunks):
    """Chunks pass at a tick of the launch."""
    if s.parameters.timeline != 0:
        add(s.traffic, column, t, chunks)


def add(traffic, column, t, chunks):
    """Likewise; where the stretches end before, each becomes twice as long."""
    last = traffic.shape[0] - 1
    index = (traffic[last, BEGIN] + t) >> traffic[last, SHIFT]
    while index >= last:
        for row in range(last):
            for each in range(traffic.shape[1]):
                both = np.int64(0)
                if 2 * row < last:
                    both = traffic[2 * row, each] + traffic[2 * row + 1, each]
                traffic[row, each] = both
        traffic[last, SHIFT] += 1
        index >>= 1
    traffic[index, column] += chunks


def no_traffic(wanted: bool) -> Any:
    """Nothing has passed yet; one row where nobody asks."""
    return table(MOST_STRETCHES + 1 if wanted else 1, len(TRAFFIC))


def traffic_of(traffic: Any) -> Traffic:
    """What has passed."""
    return Traffic(1 << int(traffic[-1, SHIFT]), traffic[:-1].copy())
