"""Selection: which launches of a program are recorded, in the words of Nsight Compute; the others run all the same."""

import fnmatch
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from simtmm.errors import RecordingError, shown

EXPRESSION = "regex:"
_JOKERS = re.compile(r"[*?\[]")


@dataclass(frozen=True)
class StopAfter:
    """When a program is ended, with a report of what there is. launches: after so many. seconds: of this computer."""

    launches: int | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class Selection:
    """Launches to record: those that all of this holds for.

    kernel: the kernel's name; a pattern such as "gemm_*"; or "regex:" and a regular expression, found anywhere in it.
    launch: numbers of launches, counted from 0 over all of the program, as "3" or "0,4-7".
    skip: so many of those are left out first.
    count: so many are recorded at most; all if None.

    Raises RecordingError for what is none of it.
    """

    kernel: str | None = None
    launch: str | int | None = None
    skip: int = 0
    count: int | None = None

    def __post_init__(self) -> None:
        if self.kernel is not None and (not isinstance(self.kernel, str) or not self.kernel):
            raise RecordingError(f"kernel = {shown(self.kernel)}: must be a kernel's name or a pattern")
        for key, value, least in (("skip", self.skip, 0), ("count", self.count, 1)):
            if value is None and key == "count":
                continue
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise RecordingError(f"{key} = {shown(value)}: must be a whole number of at least {least}")
        _is_named(self.kernel)
        _is_numbered(self.launch)

    @property
    def takes_all(self) -> bool:
        """Whether nothing is left out."""
        return self == Selection()

    def chooser(self) -> "Chooser":
        """What decides launch by launch, from the program's first on."""
        return Chooser(self)

    def __str__(self) -> str:
        """As the command line has it."""
        given = {"kernel": self.kernel, "launch": self.launch, "skip": self.skip or None, "count": self.count}
        return " ".join(f"--{key} {value}" for key, value in given.items() if value is not None)


class Chooser:
    """Called for each launch of a program once, in their order.

    launches: seen so far. matched: of these, those whose kernel and number were meant. taken: recorded.
    """

    def __init__(self, selection: Selection) -> None:
        self.selection = selection
        self.launches = self.matched = self.taken = 0
        self._is_named = _is_named(selection.kernel)
        self._is_numbered = _is_numbered(selection.launch)

    @property
    def is_done(self) -> bool:
        """Whether no later launch will be taken."""
        return self.selection.count is not None and self.taken >= self.selection.count

    def doubts(self, recorded: int, silent: Mapping[str, Sequence[int]]) -> list[str]:
        """What a reader of the trace must know, in words.

        recorded: launches in it. silent: the numbers of those that recorded no access, by kernel.
        """
        doubts = [
            f"{kernel} recorded no access to memory in {len(numbers)} of its launches, the first {numbers[0]}"
            for kernel, numbers in silent.items()
        ]
        if self.launches > recorded:
            doubts.append(f"{recorded} of {self.launches} launches are recorded: {self.selection}")
        return doubts

    def takes(self, kernel: str) -> bool:
        """Whether the launch that comes now is recorded. kernel: its name without template arguments."""
        number = self.launches
        self.launches += 1
        if not (self._is_named(kernel) and self._is_numbered(number)):
            return False
        self.matched += 1
        if self.matched <= self.selection.skip or self.is_done:
            return False
        self.taken += 1
        return True


def _is_named(pattern: str | None) -> Callable[[str], bool]:
    if pattern is None:
        return lambda name: True
    if pattern.startswith(EXPRESSION):
        try:
            expression = re.compile(pattern.removeprefix(EXPRESSION))
        except (re.error, RecursionError, OverflowError) as error:
            raise RecordingError(f"kernel = {shown(pattern)}: is not a regular expression ({error})") from None
        return lambda name: expression.search(name) is not None
    if _JOKERS.search(pattern):
        return lambda name: fnmatch.fnmatchcase(name, pattern)
    return lambda name: name == pattern


def _is_numbered(text: str | int | None) -> Callable[[int], bool]:
    if text is None:
        return lambda number: True
    ranges = []
    for part in str(text).split(","):
        found = re.fullmatch(r"\s*(\d{1,9})\s*(?:-\s*(\d{1,9})\s*)?", part, re.ASCII)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
        if first > last or isinstance(text, bool):
            raise RecordingError(f"launch = {shown(text)}: must be numbers of launches from 0, such as 3 or 0,4-7")
        ranges.append(range(first, last + 1))
    return lambda number: any(number in each for each in ranges)
