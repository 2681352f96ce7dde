"""How far a program is: told by its process, heard by the one that started it, through a file that both have mapped."""

import json
import mmap
from collections.abc import Mapping
from pathlib import Path

from simtmm.watch import foresee_events, tell

ROOM = 256  # bytes of what is told
BLANK = b" " * ROOM


class Heard:
    """What a program tells, in the process that started it."""

    def __init__(self, path: Path, most: int | None = None) -> None:
        """path: of the file. most: events, from which on launches are not recorded; None where all are."""
        path.write_bytes(BLANK)
        self._path, self._most = path, most

    def tell(self) -> None:
        """Report to the watcher here what the program reported last."""
        try:
            stage, done, total, events = json.loads(self._path.read_bytes())
        except ValueError:  # nothing yet, or half of it: there is more to come
            return
        tell(stage, done, total)
        foresee_events(events, self._most)


class Told:
    """The file, as a watch in the program's process."""

    def __init__(self, path: Path) -> None:
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), ROOM)

        self._events = 0.0

    def following(self, events: float) -> Mapping[str, float]:
        """See simtmm.watch: who hears of the events says what they take."""
        self._events = events
        return {}

    def watch(self, stage: str, done: int, total: int | None) -> None:
        """See simtmm.watch."""
        text = json.dumps([stage, done, total, self._events]).encode()
        self._map[:] = text[:ROOM].ljust(ROOM)
