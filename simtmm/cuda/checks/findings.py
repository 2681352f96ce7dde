"""What the checks found, in the words of compute-sanitizer: both lines of source, threads, blocks, memory, a hint."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from simtmm.cuda.checks.hints import ROUND, STUCK
from simtmm.cuda.checks.names import CHECKS, SYNCCHECK, Checks
from simtmm.errors import DeadlockError, LivelockError

ERROR, WARNING, INFO = "Error", "Warning", "Info"


@dataclass(frozen=True)
class Side:
    """One access of a finding, or one thread at a barrier: where in the source, by whom.

    within: what tells its barrier from another on the same line. trip: likewise, of one barrier in a loop.
    """

    action: str
    file: str
    line: int
    source: str
    block: tuple[int, int, int]
    thread: tuple[int, int, int]
    within: str = ""
    trip: str = ""

    @property
    def text(self) -> str:
        """In words."""
        where = f"{self.file}:{self.line}" if self.line else self.file
        source = f": `{self.source}`" if self.source else ""
        also = "".join(f", {each}" for each in (self.within, self.trip) if each)
        return (
            f"{self.action} Thread {index_text(self.thread)} in block {index_text(self.block)} at {where}{source}{also}"
        )


@dataclass(frozen=True)
class Finding:
    """What was found for a pair of lines of source; the sides and the address are those of the first time.

    check: the tool's name. severity: "Error", "Warning", or "Info" for what changes nothing. what: in words. kernel:
    the __global__ function. launch: its number in the run. space: "__shared__" and the like. array, index: what lies at
    the address, and the element of it, or the byte. count: times in all.
    """

    check: str
    severity: str
    what: str
    kernel: str
    launch: int
    sides: tuple[Side, ...]
    space: str = ""
    address: int = 0
    array: str = ""
    index: int = 0
    count: int = 1
    hint: str = ""

    @staticmethod
    def of_deadlock(kernel: str, launch: int, error: DeadlockError) -> "Finding":
        """Threads that wait for each other, or go round, for ever."""
        if isinstance(error, LivelockError):
            return Finding(SYNCCHECK, ERROR, f"Thread(s) that loop for ever: {error}", kernel, launch, (), hint=ROUND)
        what = f"Barrier error detected. Divergent thread(s): {error}"
        return Finding(SYNCCHECK, ERROR, what, kernel, launch, (), hint=STUCK)

    @property
    def key(self) -> tuple[Any, ...]:
        """What is one finding: both lines, and what is wrong."""
        lines = tuple((side.action, side.file, side.line, side.within) for side in self.sides)
        return self.check, self.severity, self.what.partition(" at ")[0], self.kernel, self.space, lines

    def again(self, other: "Finding") -> "Finding":
        """With those of another launch."""
        return replace(self, count=self.count + other.count)

    @property
    def lines(self) -> list[str]:
        """In words, as compute-sanitizer puts it."""
        head = f"========= {self.severity}: {self.what}"
        times = f"{self.count:,} time{'s' * (self.count != 1)}, first in launch {self.launch} of {self.kernel}"
        return [head, *(f"=========     {side.text}" for side in self.sides), f"=========     {times}",
                *([f"=========     Hint: {self.hint}"] if self.hint else [])]  # fmt: skip


@dataclass(frozen=True)
class Found:
    """What the checks of a run found. notes: what they did not look at."""

    checks: Checks
    findings: tuple[Finding, ...]
    launches: int
    notes: tuple[str, ...] = ()

    @property
    def harmful(self) -> tuple[Finding, ...]:
        """Errors and warnings, the most serious first."""
        order = {ERROR: 0, WARNING: 1}
        return tuple(sorted((f for f in self.findings if f.severity != INFO), key=lambda f: order[f.severity]))

    def lines(self) -> list[str]:
        """In words."""
        lines = [f"========= {', '.join(name.upper() for name in self.checks.names)}: {self.launches} launches"]
        for finding in self.harmful:
            lines += finding.lines
        lines += [f"========= Note: {note}" for note in self.notes]
        quiet = len(self.findings) - len(self.harmful)
        errors = sum(finding.severity == ERROR for finding in self.findings)
        warnings = len(self.harmful) - errors
        also = f"; {quiet} that change nothing (--json has them)" if quiet else ""
        return [*lines, f"========= CHECK SUMMARY: {_counted(errors, 'error')}, {_counted(warnings, 'warning')}{also}"]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "checks": list(self.checks.names),
            "launches": self.launches,
            "errors": sum(finding.severity == ERROR for finding in self.findings),
            "warnings": sum(finding.severity == WARNING for finding in self.findings),
            "findings": [asdict(finding) for finding in (*self.harmful, *self._quiet)],
            "notes": list(self.notes),
        }

    @staticmethod
    def from_dict(document: dict[str, Any]) -> "Found":
        """The other way round.

        document: what `to_dict` gave.
        """
        findings = tuple(
            Finding(**{**each, "sides": tuple(Side(**{**side, "block": tuple(side["block"]),
                    "thread": tuple(side["thread"])}) for side in each["sides"])})
            for each in document["findings"]
        )  # fmt: skip
        checks = Checks(*(name in document["checks"] for name in CHECKS))
        return Found(checks, findings, document["launches"], tuple(document["notes"]))

    @property
    def _quiet(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.severity == INFO)


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def index_text(of: Sequence[int]) -> str:
    """The index of a thread or a block."""
    return f"({', '.join(map(str, of))})"
