"""Where a compiled rule finds what it sees, and leaves its answer: columns of the arrays that it is called with."""

from typing import Any, NamedTuple

import numpy as np

# Columns of `seen`, in the words of simtmm.rules.ReadyWarp
SEEN_NUMBER, SEEN_AGE, SEEN_SLOT, SEEN_READY_TIME, SEEN_BLOCK, SEEN_STATE, SEEN_OPERATION = range(7)
SEEN_ISSUED, SEEN_HITS, SEEN_MISSES = range(7, 10)
SEEN_ROW = 10
# Columns of `asking`: what is asked, and what comes of it
(
    ASKING_GROUP, ASKING_NOW, ASKING_CYCLE, ASKING_READY, ASKING_LIVING, ASKING_LAST, ASKING_UNTIL, ASKING_FAULT,
    ASKING_TURNS, ASKING_ENTRY, ASKING_TABLE, ASKING_MOST_HOLDS, ASKING_ANSWER,
) = range(13)  # fmt: skip
ASKING_ROW = 16

NOBODY, IDLE = np.int64(-1), np.int64(-2)  # answers that are no row of `seen`: None, and Idle with a tick
# ASKING_FAULT: what ends a run. A number above 0 is the line of the rule that does what int64 can't, or that raises.
NO_FAULT = 0
NOT_READY, NO_LATER_TICK, HELD_TOO_OFTEN, TOO_LATE = (np.int64(fault) for fault in range(-1, -5, -1))
LATEST = np.int64(1) << 60  # ticks; a later one that a rule names is left to the reference engine
MOST_TURNS = 10_000_000  # of the `while` loops of a rule, for one answer


class Asked(NamedTuple):
    """What a compiled rule is called with."""

    asking: Any  # int64[ASKING_ROW]
    seen: Any  # int64[warps and ghosts, SEEN_ROW]
    ready: Any  # int64[slots]: rows of `seen`, ASKING_READY of them
    living: Any  # int64[groups, slots]: likewise, ASKING_LIVING of them of each group
    lists: Any  # int64[lists, room]: lists of the rule's own
    fields: Any  # int64[fields]: of the rule's object
