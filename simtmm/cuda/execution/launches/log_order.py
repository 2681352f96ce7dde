"""How a core's log comes to who takes the pieces of all cores in the order of their blocks."""

import contextlib
import time
from collections.abc import Iterator
from queue import Full, Queue
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simtmm.cuda.execution.launches.run import Core, Piece

LOOK_SECONDS = 0.1  # between two looks of a core that waits whether it is to stop


class Handed:
    """What some blocks log, piece by piece, for who takes the pieces of all blocks in their order.

    bytes: of the pieces so far. waited: seconds that a core has, being far enough ahead.
    """

    def __init__(self, most: int) -> None:
        """most: pieces that may wait to be taken."""
        self._queue: Queue[Piece | None] = Queue(most)
        self.bytes, self.waited = 0, 0.0

    def put(self, piece: "Piece | None", core: "Core") -> None:
        """Hand a piece on, None behind the last, once there is room; or leave it where the core is to stop."""
        began = time.perf_counter()
        while not core.stopped:
            with contextlib.suppress(Full):
                self._queue.put(piece, timeout=LOOK_SECONDS)
                break
        self.waited += time.perf_counter() - began

    def pieces(self) -> Iterator["Piece"]:
        """The pieces of the log, as they come."""
        while (piece := self._queue.get()) is not None:
            self.bytes += len(piece[0])
            yield piece
