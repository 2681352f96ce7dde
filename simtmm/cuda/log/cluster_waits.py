"""Waits for other blocks of a cluster, or for threads that dropped out, in the events of one block.

What other blocks do at a block's mbarriers is taken to be what it does itself at theirs (docs/machine.md, section 9).
Where its blocks do different things, that completes too few phases, or too many: a block would wait for ever. So it
would where threads drop out of an mbarrier, as events say how many arrivals each of its phases needs, and not how many
fewer the later ones do.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simtmm.trace.schema import Events, Kind
from simtmm.workload import (
    ACTION_SHIFT,
    ARRIVE,
    ARRIVE_COPIED,
    AWAIT,
    COMPLETE,
    COMPLETE_MULTICAST,
    COMPLETE_SENT,
    EXPECT,
    INIT,
    MOST_MBARRIER_COUNT,
    MOST_MBARRIER_NUMBER,
    NUMBER_SHIFT,
    REMOTE_SHIFT,
)


@dataclass(frozen=True)
class _Done:
    """What is done at an mbarrier: each an array of as many entries.

    at: int64, which event. action: int64. count: int64, arrivals, bytes or a parity. is_remote: bool, whether it is
    another block's mbarrier. thread: int64, who does it.
    """

    at: npt.NDArray[np.int64]
    action: npt.NDArray[np.int64]
    count: npt.NDArray[np.int64]
    is_remote: npt.NDArray[np.bool_]
    thread: npt.NDArray[np.int64]

    def total(self, local_alone: bool, *actions: int) -> int:
        """The counts of actions, of those at the block's own mbarrier or of all."""
        taken = np.isin(self.action, actions)
        return int(self.count[taken & ~self.is_remote if local_alone else taken].sum())

    @property
    def awaited(self) -> int:
        """The phases that a thread waits for, at most."""
        waits = self.action == AWAIT
        thread, parity = self.thread[waits], self.count[waits]
        begins = np.append(True, thread[1:] != thread[:-1])[: len(thread)]
        turns = np.append(True, parity[1:] != parity[:-1])[: len(thread)]
        new = np.where(begins, parity == 0, turns)  # of odd parity, the phase before the first is over
        return max(np.bincount(thread, new).astype(int), default=0)

    def completes(self, local_alone: bool) -> bool:
        """Whether all phases that are waited for are completed."""
        needed = self.count[self.action == INIT]
        if len(needed) != 1 or not needed[0]:
            return True  # it is used for several things in turn, of which nothing is known
        arrivals = self.total(local_alone, ARRIVE, ARRIVE_COPIED)
        brought = self.total(local_alone, COMPLETE, COMPLETE_SENT, COMPLETE_MULTICAST)
        bytes_left = self.total(local_alone, EXPECT) - brought
        return arrivals >= self.awaited * int(needed[0]) and bytes_left == 0


def without_endless_waits(events: Events, ends: npt.NDArray[np.int64]) -> bool:
    """Change what would leave a block waiting for ever; whether there was any.

    Where a block's own actions complete its phases, what it does at other blocks' mbarriers is not taken to be done
    at its own; where they do not either, it does not wait at this mbarrier. What is left out expects 0 bytes instead.

    events: of blocks of clusters, changed in place. ends: int64[blocks], the events up to and with each block's.
    """
    found = False
    start = 0
    for end in ends.tolist():
        found |= _of_block(events[start:end])
        start = end
    return found


def _of_block(events: Events) -> bool:
    places = np.flatnonzero(events["kind"] == Kind.MBARRIER)
    value = events["value"][places].astype(np.int64)
    number = value >> NUMBER_SHIFT & MOST_MBARRIER_NUMBER
    is_remote = (value >> REMOTE_SHIFT & 1) != 0
    found = False
    for each in np.unique(number).tolist():
        here = np.flatnonzero(number == each)
        done = _Done(
            places[here], value[here] >> ACTION_SHIFT, value[here] & MOST_MBARRIER_COUNT, is_remote[here],
            events["thread"][places[here]].astype(np.int64),
        )  # fmt: skip
        found |= _mended(events, done, each)
    return found


def _mended(events: Events, done: _Done, number: int) -> bool:
    if done.completes(local_alone=False):
        return False
    left_out = done.is_remote if done.completes(local_alone=True) else done.action == AWAIT
    nothing = (EXPECT << ACTION_SHIFT) + (number << NUMBER_SHIFT)
    events["value"][done.at[left_out]] = nothing
    return bool(left_out.any())
