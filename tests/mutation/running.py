"""Tests run in a copy of the tree, in bounds of processor time and clock."""

import ast
import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType

from tests import arguments, loose_names
from tests.mutation.measured import DATA, SITE
from tests.mutation.recorder import LIMITS, LOOPS, RESULT
from tests.mutation.tree import LentCache
from tests.mutation.wanted import WANTED, given_to_pytest

ROOT = Path(__file__).parents[2]
WORDS = ["-n", "0", "-q", "-p", "no:cacheprovider", "--benchmark-disable", "--no-header", "--tb=line"]
RECORDER = "-p", "tests.mutation.recorder"
CLOCK = 8.0  # times the seconds of the processor: others use it, too
RECORDING = 3600.0  # seconds that a file of tests may take while it is recorded
# The suite's tests of sources, which the job asks directly
NAMES = "test_arguments.py::test_arguments_go_to_the_parameters_of_their_names"
LOOSE = "test_loose_names.py::test_every_name_is_read_and_none_is_given_twice"
FLAKES = "test_house.py::test_ruff_finds_nothing"


@dataclass(frozen=True)
class Outcome:
    """Of a run: pytest's exit status, None where it took too long; its seconds of the processor; what it printed."""

    status: int | None
    seconds: float
    printed: str


class Runner:
    """A process that runs tests in one copy of the tree. A context manager."""

    def __init__(self, tree: Path, cache: Path, scratch: Path) -> None:
        """tree: the copy. cache: the user's cache folder, which faults must not reach. scratch: a folder of its own."""
        self.tree, self._cache, self._scratch = tree, cache, scratch
        self._types = tree.with_name(f"{tree.name}-types")  # kept: all of it takes mypy half a minute
        self._lent: LentCache | None = None
        self._signatures: arguments.Signatures | None = None
        self._shared = set[str]()
        self._passes: dict[tuple[str, bool], bool] = {}
        scratch.mkdir(parents=True, exist_ok=True)

    def __enter__(self) -> "Runner":
        environment = {**os.environ, "PYTHONPATH": self._path()}
        environment.pop("PYTEST_CURRENT_TEST", None)
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tests.mutation.server"],
            cwd=self.tree, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server.stdin
        assert self._server.stdout
        self._server.stdin.close()
        if kind:
            self._server.kill()
        self._server.wait()
        self._server.stdout.close()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def _path(self, *first: Path) -> str:
        """PYTHONPATH: the copy before all else, and the tree that it is of not at all."""
        others = [each for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each and Path(each) != ROOT]
        return os.pathsep.join([*map(str, first), str(self.tree), *others])

    def run(
        self, tests: Sequence[str], seconds: float, as_python: bool = False, left_out: Collection[str] = ()
    ) -> Outcome:
        """Run these, or those of them that there are, until one fails, with a cache folder of their own.

        as_python: with loops as Python. left_out: tests that are not run, though their file or function is named.
        """
        if self._lent is None:
            self._lent = LentCache(self._cache, self._scratch / "cache")
        cache = self._lent.restored()
        environment = {"SIMTMM_CACHE": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}
        wanted = self._scratch / "wanted.json"
        wanted.write_text(json.dumps([list(tests), list(left_out)]), encoding="utf-8")
        environment |= {WANTED: str(wanted)}
        if as_python:
            environment |= {LOOPS: "1"}
        words = [*WORDS, *(RECORDER if as_python else ()), "-p", "tests.mutation.wanted", "-x"]
        return self._ask([*words, *given_to_pytest(tests)], environment, seconds)

    def passes(self, test: str, seconds: float, as_python: bool = False) -> bool:
        """Whether a test passes in the copy as it is, without a fault: looked at once."""
        if (test, as_python) not in self._passes:
            self._passes[test, as_python] = self.run([test], seconds, as_python).status == 0
        return self._passes[test, as_python]

    def types(self) -> str:
        """The first mistake that mypy finds in the copy, as the suite's test of types does; empty where it finds none.

        It looks anew at what has changed alone, within seconds; at nothing in a tree that doesn't say what to look at.
        """
        settings = self.tree / "pyproject.toml"
        if not settings.exists() or "mypy" not in tomllib.loads(settings.read_text(encoding="utf-8"))["tool"]:
            return ""
        words = ["-m", "mypy", "--no-error-summary", "--cache-dir", str(self._types)]
        found = subprocess.run(
            [sys.executable, *words], cwd=self.tree, env={**os.environ, "PYTHONPATH": self._path()},
            capture_output=True, text=True,
        )  # fmt: skip
        if found.returncode not in (0, 1):
            raise RuntimeError(f"mypy: {(found.stderr or found.stdout)[-500:]}")
        return next((line for line in found.stdout.splitlines() if ": error: " in line), "")

    @cached_property
    def types_are_right(self) -> bool:
        """Whether mypy finds nothing in the copy as it is, without a fault: looked at once."""
        return not self.types()

    def wrong(self, file: str, content: bytes) -> str:
        """What the suite's tests of sources find where a source has this content, with the test's name: an argument
        that bears another parameter's name, a name that is never read or given twice, or what pyflakes looks for, by
        ruff. Empty where they find nothing, and in a tree without these tests.
        """
        there = {name: (self.tree / "tests" / name.partition("::")[0]).exists() for name in (NAMES, LOOSE, FLAKES)}
        module, found = arguments.module_of(file), ast.parse(content)
        if (there[NAMES] or there[LOOSE]) and self._signatures is None:
            package = arguments.package(self.tree)
            self._signatures, self._shared = arguments.Signatures(package), loose_names.shared_names(package.values())
        if there[NAMES] and self._signatures is not None:
            names = {str(each) for each in arguments.exchanged_in(module, found, self._signatures)}
            right = {each for all_of in arguments.RIGHT.values() for each in all_of if each.startswith(f"{module}: ")}
            if names ^ right:
                return f"tests/{NAMES}: {min(names ^ right)}"
        if there[LOOSE]:
            names, right = loose_names.loose(module, found, self._shared), loose_names.right()
            right = Counter({each: times for each, times in right.items() if each.startswith(f"{module}: ")})
            if names != right:
                return f"tests/{LOOSE}: {min(((names - right) or (right - names)).elements())}"
        mistake = self._flakes(file, content) if there[FLAKES] and find_spec("ruff") else ""
        return f"tests/{FLAKES}: {mistake}" if mistake else ""

    def _flakes(self, file: str, content: bytes) -> str:
        """The first mistake that ruff finds with pyflakes' rules: those alone, as a fault is not written as it is by
        hand.
        """
        words = ["check", "--no-cache", "--select", "F", "--output-format", "concise", "--stdin-filename", file, "-"]
        words = [sys.executable, "-m", "ruff", *words]
        found = subprocess.run(words, cwd=self.tree, input=content, capture_output=True)
        if found.returncode not in (0, 1):
            raise RuntimeError(f"ruff: {found.stderr.decode()[-500:]}")
        return found.stdout.decode().splitlines()[0] if found.returncode else ""

    def recorded(
        self, tests: Sequence[str], place: Path, limits: tuple[float, float] | None = None, as_python: bool = False
    ) -> Outcome:
        """Run tests, or files of tests, and write down in a folder which lines each test runs.

        limits: seconds of the processor that a test and a file of tests may take. as_python: whether loops that would
        be machine code are run as Python.
        """
        site = self._scratch / "site"
        site.mkdir(exist_ok=True)
        (site / "sitecustomize.py").write_text(SITE, encoding="utf-8")
        environment = {
            DATA: str(place / "coverage"),
            RESULT: str(place / "tests.json"),
            "PYTHONPATH": self._path(site),
        }
        if limits is not None:
            environment |= {LIMITS: json.dumps(limits)}
        if as_python:
            environment |= {LOOPS: "1"}
        return self._ask([*WORDS, *RECORDER, *tests], environment, RECORDING)

    def _ask(self, arguments: list[str], environment: dict[str, str], seconds: float) -> Outcome:
        assert self._server.stdin
        assert self._server.stdout
        output = self._scratch / "output"
        asked = {
            "arguments": arguments, "environment": environment, "processor": seconds, "clock": CLOCK * seconds,
            "output": str(output),
        }  # fmt: skip
        self._server.stdin.write(json.dumps(asked) + "\n")
        self._server.stdin.flush()
        answer = json.loads(self._server.stdout.readline())
        printed = output.read_text(errors="replace").replace(f"{self.tree}/", "")  # kept: others have another folder
        return Outcome(answer["status"], answer["seconds"], printed)
