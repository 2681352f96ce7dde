"""A draw of faults with the verdicts so far, in a file that later runs continue, and other trees too.

The file has a line of JSON for the draw, with what says each fault whatever else changes in its source, and one for
each verdict, written as it comes: a run may be stopped at any moment, and what was judged counts.
"""

import fcntl
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, Any

from tests.mutation.chosen import name_of
from tests.mutation.faults import Fault, candidates_of
from tests.mutation.judged import Verdict

Name = tuple[str, str, str, str]  # of a fault: its file and function, its lines before and after


@dataclass(frozen=True)
class Planned:
    """A fault of a draw. line: where it stood when it was drawn."""

    file: str
    function: str
    before: str
    after: str
    kind: str
    line: int

    @property
    def name(self) -> Name:
        """What equivalents are listed by."""
        return self.file, self.function, self.before, self.after

    def found(self, tree: Path) -> Fault | None:
        """It in a tree, at the place nearest to its line; None where its lines are no longer there."""
        path = tree / self.file
        source = path.read_bytes() if path.is_file() else b""
        same = [
            fault
            for fault in candidates_of(self.file, source)
            if fault.kind == self.kind and name_of(fault, source) == self.name
        ]
        return min(same, key=lambda fault: abs(fault.line - self.line), default=None)


class Log:
    """A draw's faults and their verdicts, and the file that they are written to."""

    def __init__(
        self, file: IO[bytes], planned: Sequence[Planned], verdicts: Mapping[int, Verdict], tree: Path
    ) -> None:
        """file: at its end. planned: the draw. verdicts: those so far, by number. tree: to plant faults in."""
        self.planned = planned
        self._file, self._verdicts, self._tree = file, dict(verdicts), tree
        self._numbers: dict[Fault, int] = {}

    def left(self) -> tuple[list[Fault], list[str]]:
        """The faults without a verdict, in the order of the draw, and the places of those whose lines are gone."""
        gone = []
        for number, each in enumerate(self.planned):
            if number in self._verdicts:
                continue
            fault = each.found(self._tree)
            if fault is None:
                gone.append(f"{each.file}:{each.line}")
            else:
                self._numbers.setdefault(fault, number)
        return list(self._numbers), gone

    def add(self, verdict: Verdict) -> None:
        """Write down a verdict of a fault that was left."""
        number = self._numbers[verdict.fault]
        self._verdicts[number] = verdict
        _write(self._file, {"number": number, **asdict(verdict)})

    def verdicts(self, known: Mapping[Name, str]) -> list[Verdict]:
        """All so far. known: the equivalents with their reasons; a survivor that was listed since is one of them."""
        found = []
        for number, verdict in sorted(self._verdicts.items()):
            reason = known.get(self.planned[number].name)
            is_one = verdict.what == "survived" and reason is not None
            found.append(replace(verdict, what="equivalent", by=reason or "") if is_one else verdict)
        return found


@contextmanager
def continued(path: Path, draw: Mapping[str, Any], drawn: Callable[[], list[Fault]], tree: Path) -> Iterator[Log]:
    """The log in a file, which is begun if it isn't there, and which no other run may continue meanwhile.

    draw: what says which faults are drawn. drawn: draws them. tree: to plant them in. Raises SystemExit where the file
    is none of ours, of another draw, or continued by another run.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SystemExit(f"--log {path}: another run continues it") from None
        file.seek(0)
        text = file.read()
        if not text:
            text = _write(file, {"draw": dict(draw), "faults": [asdict(each) for each in _planned(drawn(), tree)]})
        whole = text[: text.rfind(b"\n") + 1]  # a run that was killed may have left a part of a line
        try:
            begun, *judged = map(json.loads, whole.splitlines())
            there = begun["draw"]
            planned = [Planned(**each) for each in begun["faults"]]
            verdicts = {each.pop("number"): _verdict(each) for each in judged}
        except (ValueError, LookupError, TypeError) as error:
            raise SystemExit(f"--log {path}: no log of verdicts ({error})") from None
        for key, value in draw.items():
            if there.get(key) != value:
                raise SystemExit(f"--log {path}: is of --{key} {there.get(key)}, not {value}")
        file.truncate(len(whole))
        yield Log(file, planned, verdicts, tree)


def _write(file: IO[bytes], document: Mapping[str, Any]) -> bytes:
    line = json.dumps(document).encode() + b"\n"
    file.write(line)
    file.flush()
    return line


def _planned(faults: Iterable[Fault], tree: Path) -> Iterator[Planned]:
    for fault in faults:
        yield Planned(*name_of(fault, (tree / fault.file).read_bytes()), fault.kind, fault.line)


def _verdict(found: dict[str, Any]) -> Verdict:
    return Verdict(**{**found, "fault": Fault(**found["fault"])})
