"""Checks a long launch now and then: whether its threads loop for ever.

Three steps, of which only the last accuses. A launch runs for LOOK_SECONDS undisturbed. Then its blocks are compared
with what they were a little earlier, again and again. Where they have come back to the same state, the launch goes on
in code that is watched, until either something was changed, or every thread that could run has run and come back to the
same state, while nobody has stored another value in memory that others see. From then on each load gives what it gave
before, in whatever order threads run, so nothing can change any more.

What is no livelock, and yet does not end, has only so much patience: while no block ends, and nobody stores another
value than lies there already. Half of it passes undisturbed; then stores are looked at.

A trace must not show how long that took. So what waits at an mbarrier does so in watched code as ever, and only once a
turn has changed nothing do the loops around such waits go round, as a proof needs.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.cuda.execution.launches.launch import ROUNDS, BlockState, LaunchState, aligned
from simtmm.cuda.execution.layout import MOST_POLLS, PARAMETER_WINDOW, SEEN, SHARED_WINDOW, WINDOW
from simtmm.cuda.execution.livelock.snapshot import Snapshot, numbers_of
from simtmm.cuda.execution.translation.machine_code import MachineCode

LOOK_SECONDS = 0.25  # that a launch, or a block that waits for no others, runs before anybody looks, and between looks
SHARE = 100  # looks take no more than this part of the time,
UNNOTICED = 1e-4  # but for so many seconds of each
MOST_COMPARED = 32  # times that blocks are compared with a moment
MOST_WATCHED = 64  # turns in code that is watched, before it is given up for now,
CHANGING = 8  # of which one in which something was changed counts as so many
QUICK_TURN = 1 << 13  # rounds of loops in a turn, of blocks that wait for no others


@dataclass(frozen=True)
class Livelock:
    """Blocks of which no thread can go on, though not all wait at barriers.

    seen: SEEN[accesses], what they do again and again. yet: blocks of the launch that have not begun.
    """

    state: LaunchState
    blocks: tuple[BlockState, ...]
    seen: npt.NDArray[Any]
    yet: int


class LivelockFoundError(Exception):
    """Threads loop for ever."""

    def __init__(self, livelock: Livelock) -> None:
        super().__init__(livelock)
        self.livelock = livelock


class PatienceError(Exception):
    """A launch has made no progress for too long. block: one that runs."""

    def __init__(self, block: BlockState) -> None:
        super().__init__(block)
        self.block = block


class _Past:
    """A moment of some blocks, which they may come back to."""

    def __init__(self) -> None:
        self._due = -math.inf  # not begun
        self._snapshot: Snapshot | None = None
        self._compared = 0

    def begin(self) -> None:
        """What follows is another block."""
        self._due, self._snapshot = -math.inf, None

    def is_back(self, state: LaunchState, blocks: Sequence[BlockState], now: float) -> bool:
        """Whether they are as they were at a moment not long ago. Most calls only look whether it is time to look."""
        if self._due == -math.inf:
            self._due = now + LOOK_SECONDS
        if now < self._due:
            return False
        if self._snapshot is None:
            self._snapshot, self._compared = Snapshot(state, blocks), 0
        elif self._snapshot.is_now(blocks):
            self.wait(LOOK_SECONDS)
            return True
        self._compared += 1
        if self._compared > MOST_COMPARED:
            self.wait(LOOK_SECONDS)
        else:
            self._due = time.monotonic() + SHARE * max(0.0, time.monotonic() - now - UNNOTICED)
        return False

    def wait(self, seconds: float) -> None:
        """Not to look for so long, and then at another moment."""
        self._due, self._snapshot = time.monotonic() + seconds, None


class Watch:
    """Watches one core: compares the blocks of a launch each time they return.

    code: which is to run. is_alone: whether nobody but these blocks writes what they read, unless the memory says so.
    yet: blocks not begun. rounds: turns of its warps that a block takes before it comes back.
    """

    def __init__(
        self, state: LaunchState, code: MachineCode, watched: Callable[[], MachineCode] | None, patience: float
    ) -> None:
        """watched: gives the same code, watched; None where nobody looks. patience: seconds."""
        self.state, self.code, self._plain = state, code, code
        self._watched, self._patience = watched, patience
        self._turns, self._pieces = _Past(), _Past()
        self._snapshot: Snapshot | None = None
        self._seen: npt.NDArray[Any] = np.zeros(0, SEEN)
        self._tries, self._pause = 0, LOOK_SECONDS
        self._fuel = int(state.launch["fuel"])
        self._since: float | None = None  # nothing has come of the launch
        self.is_alone, self.yet, self.rounds = False, 0, ROUNDS

    def begin(self, block: BlockState) -> None:
        """Blocks that wait for no others follow, one after the other in the same place."""
        self._turns.begin()
        self._pieces.begin()
        self._since = None
        if self.code is not self._plain:
            self._leave([block])

    def went_on(self) -> None:
        """A block has begun or ended, of those that take turns."""
        self._since = None

    def turn(self, blocks: Sequence[BlockState]) -> None:
        """Each of these has had its turn: all that have begun and not ended, or one that waits for no others.

        Raises LivelockFoundError and PatienceError.
        """
        now = time.monotonic()
        if self.code is not self._plain:
            self._look(blocks, now)
        elif self._watched is not None and self._turns.is_back(self.state, blocks, now):
            self._enter(blocks)
        self._be_patient(blocks, now)

    def piece(self, block: BlockState) -> None:
        """A block has come back since the log is full, in the middle of its turn. Raises as `turn`."""
        now = time.monotonic()
        if self.code is self._plain:
            if self._watched is not None and self._pieces.is_back(self.state, [block], now):
                self._enter([block])
        elif self.state.program.communicates:
            self._tries += 1
        else:
            self._look([block], now)
            block.block["next"] = (int(block.block["next"]) + 1) % len(block.warps)
        self._be_patient([block], now)

    def _be_patient(self, blocks: Sequence[BlockState], now: float) -> None:
        """Look at what is stored when half of the patience is over, and end the launch when all of it is."""
        launch = self.state.launch
        if self._since is None or (self.code is not self._plain and launch["changes"]):
            self._since = now
        elif self.code is self._plain and self._watched is not None:
            if now > self._since + self._patience / 2:
                self._enter(blocks)
        elif now > self._since + self._patience and (self._tries > 1 or self._watched is None):
            raise PatienceError(blocks[0])

    def _enter(self, blocks: Sequence[BlockState]) -> None:
        """Go on in code that is watched."""
        assert self._watched is not None
        self.code = self._watched()
        launch = self.state.launch
        self._seen = aligned(max(1, len(self.state.program.accesses)) * SEEN.itemsize).view(SEEN)
        launch["seen"], launch["changes"], launch["most_polls"] = self._seen.ctypes.data, 0, MOST_POLLS
        self._snapshot, self._tries = None, 0
        if not self.state.program.communicates:  # in shorter turns, which nobody sees
            launch["fuel"] = min(self._fuel, QUICK_TURN)
            for block in blocks:
                block.block["rounds"] = 1

    def _leave(self, blocks: Sequence[BlockState]) -> None:
        """Go on as before."""
        self.code, self._snapshot = self._plain, None
        self.state.launch["fuel"] = self._fuel
        for block in blocks:
            block.block["rounds"] = self.rounds

    def _look(self, blocks: Sequence[BlockState], now: float) -> None:
        """Whether all that could run have run and come back, and nobody has changed anything."""
        launch = self.state.launch
        is_quiet = not launch["changes"] and not launch["restless"]
        if is_quiet and self._snapshot is not None and _all_ran(blocks) and self._snapshot.is_now(blocks):
            if not self._may_be_written():
                raise LivelockFoundError(Livelock(self.state, tuple(blocks), self._seen.copy(), self.yet))
            self._tries = MOST_WATCHED
        if launch["changes"]:
            self._since = now
            launch["most_polls"] = MOST_POLLS
        elif launch["most_polls"]:
            launch["most_polls"], self._snapshot = 0, None
        self._tries += 1 if is_quiet else CHANGING
        if self._tries > MOST_WATCHED and now < (self._since or now) + self._patience / 2:
            self._leave(blocks)
            self._pause *= 4
            self._turns.wait(self._pause)
            self._pieces.wait(self._pause)
        elif (
            not is_quiet
            or self._snapshot is None
            or self._snapshot.numbers != numbers_of(blocks)
            or not self._tries & (self._tries - 1)  # seldomer each time, as Brent does: it may be of a way into a cycle
        ):
            self._snapshot = Snapshot(self.state, blocks)
            launch["changes"] = launch["restless"] = 0
            self._seen[:] = np.zeros(1, SEEN)
            self._seen["low"] = np.iinfo(np.uint64).max
            for block in blocks:
                for warp in block.warps:
                    warp["ran"] = 0

    def _may_be_written(self) -> bool:
        """Whether others than these blocks may write what they read: other blocks, the host, other launches."""
        for row in self._seen[self._seen["times"] > 0]:
            low, end = int(row["low"]), int(row["end"])
            if low >= SHARED_WINDOW and (end <= SHARED_WINDOW + WINDOW or low >= PARAMETER_WINDOW):
                continue
            if self.state.memory.is_constant(low, end):
                continue
            if not self.is_alone or self.state.memory.may_be_written(low, end):
                return True
        return False


def _all_ran(blocks: Sequence[BlockState]) -> bool:
    return all(
        not int(warp["living"]) & ~int(warp["blocked"]) & ~int(warp["ran"]) for block in blocks for warp in block.warps
    )
