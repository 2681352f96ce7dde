"""Where a compiled rule finds what it sees, and leaves its answer: columns of the arrays that it is called with."""

from typing import Annotated, Any, NamedTuple

import numpy as np

from simtmm.native.columns import Columns

# Of `seen`, in the words of simtmm.rules.ReadyWarp
Seen = Columns("number age slot ready_time block state operation issued hits misses")
# Of `asking`: what is asked, and what comes of it
Asking = Columns(
    "group now cycle ready living last until fault turns entry table most_holds answer",
    room=16,
)

NOBODY, IDLE = np.int64(-1), np.int64(-2)  # answers that are no row of `seen`: None, and Idle with a tick
# Asking.fault: what ends a run. A number above 0 is the line of the rule that does what int64 can't, or that raises.
NO_FAULT = 0
NOT_READY, NO_LATER_TICK, HELD_TOO_OFTEN, TOO_LATE = (np.int64(fault) for fault in range(-1, -5, -1))
LATEST = np.int64(1) << 60  # ticks; a later one that a rule names is left to the reference engine
MOST_TURNS = 10_000_000  # of the `while` loops of a rule, for one answer


class Asked(NamedTuple):
    """What a compiled rule is called with."""

    asking: Annotated[Any, Asking]
    seen: Annotated[Any, Seen]  # [warps and ghosts]
    ready: Any  # int64[slots]: rows of `seen`, Asking.ready of them
    living: Any  # int64[groups, slots]: likewise, Asking.living of them of each group
    lists: Any  # int64[lists, room]: lists of the rule's own
    fields: Any  # int64[fields]: of the rule's object
