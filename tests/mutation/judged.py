"""What becomes of a fault: the tests that run its lines are run, the most particular first, until one fails."""

import difflib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from tests.mutation.covered import WHOLE, Covered, RecordedTest, is_there, text_of
from tests.mutation.faults import Fault
from tests.mutation.running import Outcome, Runner
from tests.mutation.tree import planted
from tests.mutation.uses import Uses, own_lines

What = Literal["caught", "survived", "timed out", "equivalent"]
STARTED = 15.0  # seconds until tests run: what they import, and compile anew
COMPILED = 60.0  # seconds in which LLVM compiles anew the loops that a fault has changed
FAR_BELOW = 4.0  # a run that takes longer than the limit was changed, if it took a fourth of it before
WORD, LEAST_WORD = re.compile(r"[^\W\d]\w*"), 4  # of a source; letters that a word has at least to say anything
LOOPS = re.compile(rb"^from simtmm\.native import", re.MULTILINE)  # in a source with loops of machine code
SAME_NAME, SAME_FOLDER = 0.1, 0.5  # of what a test costs that is near a fault
MOST_FILES = 5  # of tests without a record
FAILED = re.compile(r"^(?:FAILED|ERROR) (?P<test>tests/\S+?\.py(?:::.*?)?)(?= - |$)", re.MULTILINE)
TYPES = "tests/test_house.py::test_types_are_right"
UNTYPED = {"rounding", "constant", "range", "statement"}  # kinds of faults that seldom change a type
AS_PYTHON = 12.0  # seconds of the processor for tests that run loops as Python
WHOLE_SECONDS = 120.0  # of the processor for whole outputs, which take 30, and more where loops are compiled anew
LAST_SECONDS = 20.0  # of the processor, as recorded, for tests of a fault that nothing else has noticed
MOST_WRONG = 3  # tests that fail without a fault, too, and are left out
FEW, FEW_SECONDS = 25, 4.0  # tests that are run first, and the seconds of the processor that they take
FAILED_SOME, NOT_COLLECTED = 1, 2  # pytest's exit status where a test failed, and where a file can't be imported
NOT_FOUND = (4, 5)  # pytest's exit status where it has no such test


@dataclass(frozen=True)
class Verdict:
    """Of a fault. tests: how many were run. seconds: of the processor. by: the line that pytest ends with.

    failed: the test that noticed it, if there is a name for it.
    """

    fault: Fault
    what: What
    tests: int
    seconds: float
    by: str = ""
    difference: str = ""
    failed: str = ""


def difference(fault: Fault, source: bytes) -> str:
    """A fault as a unified diff."""
    before, after = (text.decode().splitlines(keepends=True) for text in (source, fault.planted(source)))
    return "".join(difflib.unified_diff(before, after, f"a/{fault.file}", f"b/{fault.file}", n=2))


def selected(fault: Fault, source: bytes, covered: Covered, uses: Uses) -> list[RecordedTest]:
    """The tests that run a fault; those that run what uses it, where its function is never seen to run."""
    body = own_lines(source, fault)
    found = covered.of(fault.file, body.intersection(range(fault.line, fault.last + 1)))
    if found:
        return found
    inside = fault.line in body
    around = covered.of(fault.file, body)
    if around:  # it is a default, or a line that is not reached; of a loop nobody sees all that it reaches
        return around if not inside or LOOPS.search(source) else []
    for lines in uses.of(fault, source):
        by_name = {test.name: test for file, numbers in lines.items() for test in covered.of(file, numbers)}
        if by_name:
            return list(by_name.values())
    return covered.naming(words_of(fault, source) or {Path(fault.file).stem})


def ordered(
    tests: Iterable[RecordedTest],
    seconds: float,
    near: Callable[[RecordedTest], float] = lambda test: 1.0,
    most: int | None = None,
) -> list[RecordedTest]:
    """Those that take so many seconds in all, one at least, by file: one of each function first, then another of each.
    most: how many, if not as many as there is time for.

    The quick ones come first that run little else, and those that are near. A hundred examples of a function tell less
    than one of each of many.
    """

    def cost(test: RecordedTest) -> tuple[float, str]:
        return near(test) * (0.05 + test.seconds) * (200 + test.lines), test.name

    turns: dict[str, int] = {}
    turn_of: dict[str, int] = {}
    ranked = sorted(tests, key=cost)
    for test in ranked:
        function = test.name.partition("[")[0]
        turn_of[test.name] = turns[function] = turns.get(function, -1) + 1
    chosen: list[RecordedTest] = []
    left = seconds
    for test in sorted(ranked, key=lambda test: (turn_of[test.name], *cost(test))):
        if chosen and test.seconds > left:
            continue
        chosen.append(test)
        left -= test.seconds
        if len(chosen) == most:
            break
    files = list(dict.fromkeys(test.file for test in chosen))
    return sorted(chosen, key=lambda test: files.index(test.file))


class Nearness:
    """How near tests are to a fault, as a factor of what they cost.

    A test is near whose file is named after the fault's, stands in the same folder, or has its words: those that the
    fault takes away, and its function's name.
    """

    def __init__(self, fault: Fault, source: bytes, tree: Path) -> None:
        self._tree, self._folders, self._module = tree, fault.file.split("/")[1:-1], Path(fault.file).stem
        self._words = words_of(fault, source)

    def __call__(self, test: RecordedTest) -> float:
        parts = test.file.split("/")[1:]
        shared = 0
        for one, other in zip(parts[:-1], self._folders, strict=False):
            if one != other:
                break
            shared += 1
        factor = SAME_FOLDER**shared
        if self._module in parts[-1] and self._module != "__init__":
            factor *= SAME_NAME
        if any(word in test.name for word in self._words):
            factor *= SAME_NAME
        elif any(word in text_of(self._tree / test.file) for word in self._words):
            factor *= SAME_FOLDER
        return factor


def words_of(fault: Fault, source: bytes) -> set[str]:
    """The names that a fault takes away, or the function's where it takes none away."""
    changed = source[fault.begin : fault.end].decode()
    return {word for word in WORD.findall(changed) if len(word) >= LEAST_WORD} or {
        name.strip("_") for name in fault.function.split(".")[-1:] if len(name) >= LEAST_WORD
    }


def judged(
    fault: Fault, source: bytes, covered: Covered, uses: Uses, runner: Runner, seconds: float,
    last: float = LAST_SECONDS,
) -> Verdict:  # fmt: skip
    """Plant a fault and see. seconds: of the processor that a run may take. last: that tests may take, as recorded, of
    a fault that nothing else has noticed; 0 for no such tests, nor whole outputs.

    The suite's tests of names come first: they are quick. Its test of types comes behind the nearest tests, which
    notice more in less time, but where loops would be compiled anew. Where neither they nor a recorded test do, the
    nearest files of tests without a record are run, then all that compare whole outputs and may run the fault, however
    long they take, and at last many more, so that what the suite notices is noticed.
    """
    if (wrong := runner.wrong(fault.file, fault.planted(source))) and not runner.wrong(fault.file, source):
        return Verdict(fault, "caught", 1, 0.0, wrong[:200], difference(fault, source))
    has_loops = bool(LOOPS.search(source))  # which take longer to compile anew than mypy
    if has_loops and fault.kind not in UNTYPED and (verdict := _by_types(fault, source, runner)):
        return verdict
    named = covered.of_its_name(fault.file) if has_loops else []  # which run its loops, though nobody sees it
    by_name = {test.name: test for test in (*named, *selected(fault, source, covered, uses))}
    tests = [test for test in by_name.values() if is_there(test.name, runner.tree)]
    verdict, spent = _by_recorded(fault, source, tests, runner, seconds), 0.0
    while verdict.failed and not runner.passes(verdict.failed, seconds):  # as it does without the fault
        tests = [test for test in tests if verdict.failed not in (test.name, test.file)]
        spent += verdict.seconds
        verdict = _by_recorded(fault, source, tests, runner, seconds)
    verdict = replace(verdict, seconds=verdict.seconds + spent)
    if verdict.what != "survived":
        return verdict
    if fault.kind in UNTYPED and (by_types := _by_types(fault, source, runner)):
        return by_types
    unknown = covered.unrecorded(fault.file, MOST_FILES)
    is_seen = bool(own_lines(source, fault))
    whole = [test.name for test in tests if test.file.endswith(WHOLE) and is_seen]
    whole = whole + covered.whole(fault.file, is_seen) if last else []
    at_last, at_last_seconds = _at_last(
        fault, source, tests if verdict.tests < len(tests) else [], covered, runner.tree, last
    )
    for more, limit, what in (
        (unknown, seconds, f"{len(unknown)} of no record"),
        ([name for name in whole if name not in unknown], WHOLE_SECONDS, "whole outputs"),
        ([name for name in at_last if name not in unknown], at_last_seconds, f"{len(at_last)} at last"),
    ):
        if more and verdict.what == "survived":
            failed, spent = _by_unknown(fault, source, more, runner, limit)
            verdict = replace(
                verdict, what="caught" if failed else "survived", seconds=verdict.seconds + spent,
                by=f"{failed or verdict.by}; {what}",
            )  # fmt: skip
    return verdict


def _at_last(
    fault: Fault, source: bytes, tests: Sequence[RecordedTest], covered: Covered, tree: Path, seconds: float
) -> tuple[list[str], float]:
    """What is run of a fault that nothing else has noticed, and the seconds of the processor that it may take: tests
    whose file imports its source, many more of those that run it, or, of what nobody sees run, as a compiled loop, of
    its room; and all of its room that have no record.
    """
    if not seconds:
        return [], 0.0
    recorded, unknown = covered.in_room(fault.file)
    has_loops = bool(LOOPS.search(source))
    is_unseen = has_loops or not covered.of(fault.file, range(fault.line, fault.last + 1))
    near = Nearness(fault, source, tree)
    importing = [test for test in covered.importing(fault.file) if is_there(test.name, tree)]
    chosen = ordered(importing, seconds / 2, near)
    taken = {test.name for test in chosen}
    others = {test.name: test for test in (*tests, *(recorded if is_unseen else ())) if test.name not in taken}
    chosen += ordered(others.values(), seconds / 2, near)
    bound = COMPILED * has_loops + STARTED + seconds * bool(unknown) + 2 * sum(test.seconds for test in chosen)
    return [test.name for test in chosen] + unknown, bound


def _by_unknown(
    fault: Fault, source: bytes, tests: Sequence[str], runner: Runner, seconds: float, as_python: bool = False
) -> tuple[str, float]:
    """The line of the test that fails with a fault and not without it, or that the run dies or takes far longer with
    it; empty if it ends as without the fault; and the seconds.
    """
    spent, left_out = 0.0, set[str]()
    while len(left_out) <= MOST_WRONG:
        with planted(runner.tree / fault.file, fault.planted(source)):
            outcome = runner.run(tests, seconds, as_python, left_out)
        spent += outcome.seconds
        failed = _failed(outcome)
        if not failed:
            ended = "" if outcome.status is None and (as_python or LOOPS.search(source)) else _ended(outcome)
            if ended:  # as without the fault?
                without = runner.run(tests, seconds / (1 if outcome.status else FAR_BELOW), as_python, left_out)
                spent += without.seconds
                return (ended if without.status == 0 else ""), spent
            break
        if runner.passes(failed, seconds, as_python):
            return f"FAILED {failed}"[:200], spent
        left_out.add(failed)
        tests = [test for test in tests if test.partition("::")[0] != failed]  # of a file that can't be imported
        if not tests:
            break
    return "", spent


def _ended(outcome: Outcome) -> str:
    """How a run ended in which no test is said to have failed, where it did not end well."""
    return {None: "took far too long", FAILED_SOME: "died"}.get(outcome.status, "")


def _by_types(fault: Fault, source: bytes, runner: Runner) -> Verdict | None:
    with planted(runner.tree / fault.file, fault.planted(source)):
        mistake = runner.types()
    if mistake and not runner.types_are_right:  # without the fault either: then they say nothing
        mistake = ""
    return Verdict(fault, "caught", 1, 0.0, f"{TYPES}: {mistake[:200]}", difference(fault, source)) if mistake else None


def _by_recorded(fault: Fault, source: bytes, tests: Sequence[RecordedTest], runner: Runner, seconds: float) -> Verdict:
    diff = difference(fault, source)
    if not tests:
        by_types = None if fault.kind in UNTYPED or LOOPS.search(source) else _by_types(fault, source, runner)
        return by_types or Verdict(fault, "survived", 0, 0.0, "no recorded test runs it", diff)
    near = Nearness(fault, source, runner.tree)
    first = ordered(tests, FEW_SECONDS, near, FEW)
    spent = 0.0
    longer = COMPILED if LOOPS.search(source) else 0.0
    if longer:  # to compile a loop anew takes LLVM far longer than Python takes for a small case
        names = [test.name for test in first]
        failed, spent = _by_unknown(fault, source, names, runner, AS_PYTHON, as_python=True)
        if failed:
            return Verdict(fault, "caught", len(first), spent, f"{failed}; the nearest {len(first)}, as Python", diff)
    passed: set[str] = set()
    if len(tests) > FEW:  # most faults are noticed by the nearest, and to find fewer of them takes pytest less time
        with planted(runner.tree / fault.file, fault.planted(source)):
            outcome = runner.run([test.name for test in first], longer + STARTED + FAR_BELOW * FEW_SECONDS)
        spent += outcome.seconds
        if outcome.status == FAILED_SOME:
            what, by = _verdict(outcome, first, seconds)
            by = f"{by}; the nearest {len(first)}"
            return Verdict(fault, what, len(first), spent, by, diff, _failed(outcome))
        if outcome.status == 0:
            passed = {test.name for test in first}
    if not longer and fault.kind not in UNTYPED and (by_types := _by_types(fault, source, runner)):
        return replace(by_types, seconds=spent)
    chosen = ordered((test for test in tests if test.name not in passed), seconds / FAR_BELOW, near)
    seconds = longer + min(seconds, STARTED + FAR_BELOW * sum(test.seconds for test in chosen))
    with planted(runner.tree / fault.file, fault.planted(source)):
        outcome = runner.run([test.name for test in chosen], seconds)
    spent += outcome.seconds
    if outcome.status in NOT_FOUND:  # as without the fault?
        with_none = runner.run([test.name for test in chosen], seconds)
        spent += with_none.seconds
        if with_none.status in NOT_FOUND:
            return Verdict(fault, "survived", len(passed), spent, "its tests are no longer there", diff)
    what, by = _verdict(outcome, chosen, seconds)
    if what == "timed out":  # as without the fault?
        with_none = runner.run([test.name for test in chosen], seconds)
        spent += with_none.seconds
        if with_none.status is None:
            what, by = "survived", f"{by}, without the fault too"
    number = len(chosen) + len(passed)
    more = "" if number == len(tests) else f" of {len(tests)}, as more take too long"
    return Verdict(fault, what, number, spent, f"{by}; {number} tests{more}", diff, _failed(outcome))


def _failed(outcome: Outcome) -> str:
    """The test that failed first, or the file that can't be imported."""
    failed = FAILED.search(outcome.printed) if outcome.status in (FAILED_SOME, NOT_COLLECTED) else None
    return failed["test"] if failed else ""


def _verdict(outcome: Outcome, chosen: Sequence[RecordedTest], seconds: float) -> tuple[What, str]:
    lines = [line for line in outcome.printed.splitlines() if line.strip()]
    if outcome.status is None:
        was_short = sum(test.seconds for test in chosen) <= seconds / FAR_BELOW
        return "timed out" if was_short else "survived", "took too long"
    if outcome.status == 0:
        return "survived", lines[-1] if lines else ""
    failed = next((line for line in lines if line.startswith(("FAILED", "ERROR"))), lines[-1] if lines else "")
    return "caught", failed[:200]
