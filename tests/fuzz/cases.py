"""Cases of one kind, one after another in a process: counted, bounded, and kept where one fails.

A case is drawn by a generator of its own, seeded by kind, seed and number, so that each can be had again, and a count
goes on where it stopped.
"""

import json
import mmap
import re
import resource
import struct
import time
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from simtmm.errors import InternalError, SimtmmError
from tests.fuzz.bounds import bounded, check_line
from tests.fuzz.kinds import KINDS

SAVES_EVERY = 5.0  # seconds
MOST_MESSAGES = 2000
MOST_FAILURES = 20  # of one kind, each at a place of its own, before it is left
_OWN = re.compile(r"'[^']*'|\"[^\"]*\"|\S*[0-9/\\]\S*|\(.*")  # of a message: what is of its input


@dataclass
class Totals:
    """What became of a kind's cases. refused: by kind of error. messages: different ones, but for what they quote.

    slowest: seconds and the number of a case. memory: the most that the process had [bytes].
    """

    kind: str
    seed: int
    next: int = 0
    seconds: float = 0.0
    accepted: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    messages: Counter[str] = field(default_factory=Counter)
    slowest: tuple[float, int] = (0.0, -1)
    memory: int = 0
    failures: list[dict[str, object]] = field(default_factory=list)

    @classmethod
    def load(cls, path: Path, kind: str, seed: int) -> "Totals":
        """As they were left, or none."""
        if not path.exists():
            return cls(kind, seed)
        known = json.loads(path.read_text())
        known |= {key: Counter(known[key]) for key in ("refused", "messages")}
        return cls(**known | {"slowest": tuple(known["slowest"])})

    def save(self, path: Path) -> None:
        """Whole, or as they were."""
        beside = path.with_suffix(".new")
        beside.write_text(json.dumps(vars(self), indent=1))
        beside.replace(path)


class Progress:
    """The number of the case that a process is at, which another reads when it hangs or has died."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            path.write_bytes(struct.pack("q", -1))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), 8)

    @property
    def number(self) -> int:
        """It."""
        return struct.unpack("q", self._map[:8])[0]

    @number.setter
    def number(self, number: int) -> None:
        self._map[:8] = struct.pack("q", number)


def drawn(kind: str, seed: int, number: int) -> bytes:
    """An input."""
    return KINDS[kind].make(Random(f"{kind} {seed} {number}"))


def run_cases(kind: str, seed: int, cases: int, seconds: float, out: Path) -> Totals:
    """Try cases up to that number, for so long at most; a warning is a failure.

    out: the folder of totals, and of inputs that fail.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return _run_cases(kind, seed, cases, seconds, out)


def _run_cases(kind: str, seed: int, cases: int, seconds: float, out: Path) -> Totals:
    path, folder = out / f"{kind}-{seed}.json", out / f"{kind}-{seed}.files"
    folder.mkdir(parents=True, exist_ok=True)
    totals, progress = Totals.load(path, kind, seed), Progress(out / f"{kind}-{seed}.at")
    places = {str(failure["place"]) for failure in totals.failures}
    before = totals.seconds
    begun = saved = time.monotonic()
    while totals.next < cases and time.monotonic() < begun + seconds and len(places) < MOST_FAILURES:
        number = progress.number = totals.next
        content = drawn(kind, seed, number)
        at = time.monotonic()
        failed = _tried(kind, folder, content, totals)
        now = time.monotonic()
        totals.slowest = max(totals.slowest, (now - at, number))
        totals.next, totals.seconds = number + 1, before + now - begun
        if failed is not None:
            place = _place(failed)
            if place not in places:
                places.add(place)
                kept = keep(out, kind, seed, number, content)
                totals.failures.append({"number": number, "place": place, "file": kept.name})
                said = "".join(traceback.format_exception(failed))
                kept.with_suffix(".txt").write_text(said, "utf-8", "replace")
        if now > saved + SAVES_EVERY or failed is not None:
            saved = now
            totals.memory = max(totals.memory, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
            totals.save(path)
    totals.memory = max(totals.memory, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
    totals.save(path)
    return totals


def keep(out: Path, kind: str, seed: int, number: int, content: bytes) -> Path:
    """Keep an input; its file."""
    path = out / f"{kind}-{seed}-{number}.input"
    path.write_bytes(content)
    return path


def _tried(kind: str, folder: Path, content: bytes, totals: Totals) -> BaseException | None:
    """Count a case; what it raised that no input may."""
    try:
        with bounded():
            KINDS[kind].use(folder, content)
    except InternalError as failed:
        return failed.__cause__ or failed
    except SimtmmError as error:
        try:
            check_line(str(error))
        except AssertionError as failed:
            return failed
        totals.refused[type(error).__name__] += 1
        words = _OWN.sub("_", str(error))[:120]
        if words in totals.messages or len(totals.messages) < MOST_MESSAGES:
            totals.messages[words] += 1
    except KeyboardInterrupt:
        raise
    except BaseException as failed:
        return failed
    else:
        totals.accepted += 1
    return None


def _place(failed: BaseException) -> str:
    """What failed, and where in simtmm or these tests."""
    frames = traceback.extract_tb(failed.__traceback__)
    own = [frame for frame in frames if "/simtmm/" in frame.filename] or frames
    where = f"{Path(own[-1].filename).name}:{own[-1].lineno}" if own else ""
    return f"{type(failed).__name__} {where}"
