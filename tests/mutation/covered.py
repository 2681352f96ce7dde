"""Which tests run a line: recorded by file of tests, and kept in the user's cache.

A source that has changed or moved since is looked at by the lines that are still there, and of a file of tests that has
changed the last record holds for the tests that still stand in it. Tests that call loops of machine code are recorded
twice, with loops as Python the second time.
"""

import ast
import contextlib
import difflib
import hashlib
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import takewhile
from operator import eq
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from tests.mutation.measured import WRITTEN, written_lines
from tests.mutation.running import Runner

CALL_LOOPS = ("simtmm/native/loop.py",)  # what a test runs that runs machine code
MOVED = 0.5  # of a source's lines, if so many stand in one that is gone: it has another name now
WHOLE = "/test_whole.py"  # what files of tests are called that compare whole outputs
OVER = 3  # times as long as until it was ended, a test is taken to take
AS_PYTHON = 1.5, 12.0  # seconds of the processor for a test, and for a file of tests, with loops as Python


@dataclass(frozen=True)
class RecordedTest:
    """A test. seconds: of the processor, as recorded. lines: of the package that it runs, how many."""

    name: str
    seconds: float
    lines: int

    @property
    def file(self) -> str:
        """The file that it stands in."""
        return self.name.partition("::")[0]


class Record:
    """What was recorded of a file of tests."""

    def __init__(self, folder: Path, text: str) -> None:
        """text: the file as it is now."""
        self._folder, self._text = folder, text

    @cached_property
    def _known(self) -> dict[str, dict[str, Any]]:
        """What was noted of each test that still stands in the file."""
        found: dict[str, dict[str, Any]] = json.loads((self._folder / "tests.json").read_text(encoding="utf-8"))
        return {name: test for name, test in found.items() if _names(self._text, name)}

    @cached_property
    def tests(self) -> dict[str, RecordedTest]:
        """Those that pass, by name, and those that were ended as they took too long, which are taken to pass."""
        return {
            name: RecordedTest(name, test["seconds"] * (OVER if test.get("over") else 1), test.get("lines", 0))
            for name, test in self._known.items()
            if "seconds" in test and (test["passed"] or test.get("over"))
        }

    @cached_property
    def lacking(self) -> list[str]:
        """The functions of which no test is known, in the file's order: they are new, or all of their tests were
        skipped, failed, or were left out for want of time.
        """
        passed, known = {function_of(name) for name in self.tests}, map(function_of, self._known)
        there = [*_functions(self._text), *known]
        return [function for function in dict.fromkeys(there) if function not in passed]

    @cached_property
    def sources(self) -> dict[str, str]:
        """The content's hash of each source that they ran."""
        found: dict[str, str] = json.loads((self._folder / "sources.json").read_text(encoding="utf-8"))
        return found

    def by_line(self, file: str, now: bytes, texts: Path) -> dict[int, list[RecordedTest]]:
        """The tests of each line of a source by its name at that time, as the source is now."""
        lines = _lines(self._folder / "coverage", file) if file in self.sources else {}
        recorded = self.sources.get(file, "")
        if lines and recorded != _hash(now):
            there = _translated((texts / recorded).read_bytes(), now)
            lines = {there[line]: names for line, names in lines.items() if line in there}
        return {line: [self.tests[name] for name in names if name in self.tests] for line, names in lines.items()}


def function_of(name: str) -> str:
    """The function of a test, with its class if it has one."""
    return name.partition("::")[2].partition("[")[0]


def is_there(name: str, tree: Path) -> bool:
    """Whether a tree has a test's function, or its file imports or assigns one of that name."""
    path = tree / name.partition("::")[0]
    return path.is_file() and _names(text_of(path), name)


def _names(text: str, name: str) -> bool:
    return function_of(name).rpartition("::")[2] in text


@cache
def _functions(text: str) -> list[str]:
    """The tests of a file by their functions."""
    found: list[str] = []
    for node in ast.parse(text).body:
        inside = node.body if isinstance(node, ast.ClassDef) else [node]
        first = f"{node.name}::" if isinstance(node, ast.ClassDef) else ""
        found += [
            f"{first}{each.name}"
            for each in inside
            if isinstance(each, ast.FunctionDef) and each.name.startswith("test_")
        ]
    return found


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]


@cache
def _translated(before: bytes, now: bytes) -> dict[int, int]:
    """The lines of a text where they are in another, from 1."""
    blocks = difflib.SequenceMatcher(None, before.splitlines(), now.splitlines(), autojunk=False).get_matching_blocks()
    return {block.a + at + 1: block.b + at + 1 for block in blocks for at in range(block.size)}


@cache
def _opened(data: Path) -> Any:
    """Coverage's data, which takes long to open, for all sources that are asked for."""
    from coverage import CoverageData

    found = CoverageData(str(data))
    found.read()
    return found


def _lines(data: Path, file: str) -> dict[int, list[str]]:
    """The tests of each line that were measured."""
    found = _opened(data)
    (path,) = [each for each in found.measured_files() if each.endswith(f"/{file}")] or [None]
    return (
        {}
        if path is None
        else {line: [name for name in names if name] for line, names in found.contexts_by_lineno(path).items()}
    )


@cache
def text_of(path: Path) -> str:
    """The text of a file of tests."""
    return path.read_text(encoding="utf-8")


Ran = dict[str, dict[str, list[int]]]  # lines by source, by test


def _ran(place: Path) -> Ran:
    """What a run has left in a folder."""
    from coverage import CoverageData

    found: dict[str, dict[str, set[int]]] = {}
    for name, path, line in written_lines(place / "coverage"):
        found.setdefault(name, {}).setdefault(path, set()).add(line)
    for part in sorted(place.glob("coverage*")):
        if part.suffix == WRITTEN:
            continue
        with contextlib.suppress(Exception):  # of a process that was killed while it wrote
            data = CoverageData(str(part))
            data.read()
            for path in data.measured_files():
                for line, names in data.contexts_by_lineno(path).items():
                    for name in filter(None, names):
                        found.setdefault(name, {}).setdefault(path, set()).add(line)
    return {name: {path: sorted(lines) for path, lines in own.items()} for name, own in found.items()}


def _with_loops(known: Mapping[str, Mapping[str, float]], ran: Ran, tree: Path) -> Iterable[list[str]]:
    """The tests that run any loop, by file, the quick ones first."""
    callers = {str(tree / file) for file in CALL_LOOPS}
    by_file: dict[str, list[str]] = {}
    for name in sorted(known, key=lambda name: (known[name].get("seconds", 0.0), name)):
        if callers & ran.get(name, {}).keys():
            by_file.setdefault(name.partition("::")[0], []).append(name)
    return by_file.values()


def _has_tests(place: Path) -> bool:
    """Whether a record is there and says anything: that of a file that was not reached doesn't."""
    known = place / "tests.json"  # {} where the run ended before
    return (place / "sources.json").exists() and known.exists() and known.stat().st_size > len("{}")


class Covered:
    """The records of all files of tests that have one."""

    def __init__(self, tree: Path, folder: Path) -> None:
        """tree: with simtmm and tests. folder: of records."""
        self._tree, self._folder, self._texts = tree, folder / "records", folder / "texts"
        self._of_file: dict[str, dict[int, list[RecordedTest]]] = {}
        self._earlier: dict[str, list[str]] = {}

    def _place(self, file: str) -> Path:
        return self._folder / file.replace("/", "-").removesuffix(".py") / _hash((self._tree / file).read_bytes())

    def _record(self, file: str) -> Record | None:
        """What was recorded of a file of tests as it is now, or else last."""
        exact = self._place(file)
        places = [place.parent for place in exact.parent.glob("*/sources.json") if _has_tests(place.parent)]
        if not places:
            return None
        last = max(places, key=lambda place: (place == exact, (place / "sources.json").stat().st_mtime_ns))
        return Record(last, (self._tree / file).read_text(encoding="utf-8"))

    def lacking(self, files: Iterable[str]) -> list[str]:
        """Those of these files of tests that have no record as they are."""
        return [file for file in files if not _has_tests(self._place(file))]

    def record(
        self,
        files: Sequence[str],
        runner: Runner,
        limits: tuple[float, float] | None = None,
        as_python: tuple[float, float] = AS_PYTHON,
    ) -> dict[str, RecordedTest]:
        """Run files of tests, and keep which lines each test ran. Raises RuntimeError where that can't be done.

        limits: seconds of the processor for a test and for a file of tests, as much as they take if left out.
        as_python: the same with loops as Python; of no file at all if a file has no seconds.
        """
        with TemporaryDirectory() as scratch:
            place = Path(scratch)
            outcome = runner.recorded(files, place, limits)
            if not (place / "tests.json").exists():
                raise RuntimeError(f"{', '.join(files)}: can't be recorded:\n{outcome.printed[-2000:]}")
            known = json.loads((place / "tests.json").read_text(encoding="utf-8"))
            reached = {name.partition("::")[0] for name in known}
            for number, again in enumerate(_with_loops(known, _ran(place), runner.tree) if as_python[1] else ()):
                (place / f"again{number}").mkdir()
                runner.recorded(again, place / f"again{number}", as_python, as_python=True)
            found = self._settled(files, place, runner.tree)
        left = [file for file in files if file not in reached]  # behind a test that never ended
        return found | self.record(left, runner, limits, as_python) if left and reached else found

    def _settled(self, files: Sequence[str], place: Path, tree: Path) -> dict[str, RecordedTest]:
        """Put what a run in a copy of the tree has left into a record of each file of tests."""
        ran = _ran(place)
        for again in place.glob("again*"):
            for name, lines in _ran(again).items():
                for path, numbers in lines.items():
                    own = ran.setdefault(name, {})
                    own[path] = sorted({*own.get(path, []), *numbers})
        known = json.loads((place / "tests.json").read_text(encoding="utf-8"))
        found: dict[str, RecordedTest] = {}
        for file in files:
            own = {name: test for name, test in known.items() if name.partition("::")[0] == file}
            for name, test in own.items():
                test["lines"] = sum(map(len, ran.get(name, {}).values()))
            self._keep(self._place(file), own, {name: ran.get(name, {}) for name in own}, tree)
            found |= Record(self._place(file), (self._tree / file).read_text(encoding="utf-8")).tests
        return found

    def _keep(
        self, place: Path, tests: Mapping[str, object], ran: Mapping[str, Mapping[str, list[int]]], tree: Path
    ) -> None:
        from coverage import CoverageData

        place.mkdir(parents=True, exist_ok=True)
        self._texts.mkdir(parents=True, exist_ok=True)
        (place / "coverage").unlink(missing_ok=True)
        data, sources = CoverageData(str(place / "coverage")), dict[str, str]()
        for name, lines in ran.items():
            data.set_context(name)
            data.add_lines(lines)
            for path in lines:
                content = Path(path).read_bytes()
                sources[Path(path).relative_to(tree).as_posix()] = _hash(content)
                (self._texts / _hash(content)).write_bytes(content)
        data.write()
        (place / "tests.json").write_text(json.dumps(tests), encoding="utf-8")
        (place / "sources.json").write_text(json.dumps(sources), encoding="utf-8")

    @cached_property
    def _files(self) -> list[str]:
        return sorted(path.relative_to(self._tree).as_posix() for path in (self._tree / "tests").rglob("test_*.py"))

    @cached_property
    def _recorded(self) -> dict[str, Record]:
        return {file: record for file in self._files if (record := self._record(file))}

    @cached_property
    def _gone(self) -> dict[str, set[str]]:
        """Sources that were recorded and are there no more, each with the hashes of what it has been."""
        found: dict[str, set[str]] = {}
        for record in self._recorded.values():
            for file, content in record.sources.items():
                if not (self._tree / file).is_file():
                    found.setdefault(file, set()).add(content)
        return found

    def _names_of(self, file: str, now: bytes) -> list[str]:
        """What a source was called when tests were recorded: its own name, and what has its lines and is gone."""
        if file not in self._earlier:
            own = set(now.splitlines())
            gone = [(self._texts / content, name) for name, all_of in self._gone.items() for content in all_of]
            likely = [(len(own & set(path.read_bytes().splitlines())), name) for path, name in gone]
            number, name = max(likely, default=(0, ""))
            self._earlier[file] = [file, *([name] if number > MOVED * len(own) else [])]
        return self._earlier[file]

    def by_line(self, file: str) -> dict[int, list[RecordedTest]]:
        """The tests of each line of a source."""
        if file not in self._of_file:
            found: dict[int, list[RecordedTest]] = {}
            now = (self._tree / file).read_bytes()
            for record in self._recorded.values():
                for name in self._names_of(file, now):
                    for line, tests in record.by_line(name, now, self._texts).items():
                        found.setdefault(line, []).extend(tests)
            self._of_file[file] = found
        return self._of_file[file]

    def of(self, file: str, lines: Collection[int]) -> list[RecordedTest]:
        """The tests that run any of these lines."""
        by_line = self.by_line(file)
        found = {test.name: test for line in lines for test in by_line.get(line, [])}
        return list(found.values())

    @cached_property
    def _unknown(self) -> dict[str, list[str]]:
        """What pytest is to run of each file of tests that has no record, or one of some of its tests."""
        of_some = {
            file: [f"{file}::{function}" for function in record.lacking] for file, record in self._recorded.items()
        }
        return {file: of_some.get(file, [file]) for file in self._files if of_some.get(file, [file])}

    def unrecorded(self, source: str, most: int | None = None) -> list[str]:
        """Files of tests, or tests, that are near a source and have no record, the nearest first: they have the
        source's name, import it, or stand in its folder. most: of how many files.
        """
        module = PurePosixPath(source).with_suffix("")
        room = PurePosixPath("tests", *module.parts[1:-1])
        dotted, folder = ".".join(module.parts), ".".join(module.parts[:-1])
        imports = re.compile(rf"{re.escape(dotted)}\b|from {re.escape(folder)} import .*\b{module.name}\b")

        def near(file: str) -> int:
            path = PurePosixPath(file)
            named, beside = path.stem == f"test_{module.name}", path.parent == room
            return named + beside + 3 * bool(imports.search(text_of(self._tree / file))) + 2 * (named and beside)

        found = sorted(((near(file), file) for file in self._unknown), key=lambda each: (-each[0], each[1]))
        return [name for score, file in found[:most] if score for name in self._unknown[file]]

    def in_room(self, source: str) -> tuple[list[RecordedTest], list[str]]:
        """The tests with a record in the folder that is called as a source's, or as the nearest one around it, and in
        folders there; and the files, or tests, that have none.
        """
        parts = PurePosixPath(source).parts[1:-1]
        rooms = ("/".join(("tests", *parts[:deep], "")) for deep in range(len(parts), 0, -1))
        room = next((room for room in rooms if any(file.startswith(room) for file in self._files)), None)
        if room is None:
            return [], []
        known = [
            test for file, record in self._recorded.items() if file.startswith(room) for test in record.tests.values()
        ]
        return known, [name for file, names in self._unknown.items() if file.startswith(room) for name in names]

    def of_its_name(self, source: str) -> list[RecordedTest]:
        """The tests with a record whose file is called as a source, in its room."""
        name = f"/test_{PurePosixPath(source).stem}.py"
        return [test for test in self.in_room(source)[0] if test.file.endswith(name)]

    def importing(self, source: str) -> list[RecordedTest]:
        """The tests with a record whose file imports a source, or of its folder whatever that offers."""
        module = PurePosixPath(source).with_suffix("")
        names = {".".join(module.parts).removesuffix(".__init__"), ".".join(module.parts[:-1])}
        imports = re.compile(rf"^\s*(?:from|import) (?:{'|'.join(map(re.escape, sorted(names)))})(?: |$)", re.MULTILINE)
        found = [record for file, record in self._recorded.items() if imports.search(text_of(self._tree / file))]
        return [test for record in found for test in record.tests.values()]

    def whole(self, source: str, is_seen: bool = True) -> list[str]:
        """The files of tests that compare whole outputs and have no record as they are, those near a source first; all
        of them where nobody sees which tests run a fault, as it runs when its source is imported.
        """
        files = [file for file in self._files if file.endswith(WHOLE)]
        folders = PurePosixPath(source).parts[1:-1]
        return sorted(
            self.lacking(files) if is_seen else files,
            key=lambda file: -sum(takewhile(bool, map(eq, PurePosixPath(file).parts[1:-1], folders))),
        )

    def naming(self, words: Collection[str]) -> list[RecordedTest]:
        """The tests of files in which any of these words stands."""
        found: list[RecordedTest] = []
        for record in self._recorded.values():
            tests = list(record.tests.values())
            if tests and any(word in text_of(self._tree / tests[0].file) for word in words):
                found += tests
        return found
