"""Tests run in a copy of the tree, in bounds of processor time and clock."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from tests.mutation.recorder import DATA, LIMITS, LOOPS, RESULT, SITE
from tests.mutation.tree import linked

ROOT = Path(__file__).parents[2]
WORDS = ["-n", "0", "-q", "-p", "no:cacheprovider", "--benchmark-disable", "--no-header", "--tb=line"]
CLOCK = 8.0  # times the seconds of the processor: others use it, too
RECORDING = 3600.0  # seconds that a file of tests may take while it is recorded


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
        self._server.kill() if kind else self._server.wait()
        self._server.stdout.close()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def _path(self, *first: Path) -> str:
        """PYTHONPATH: the copy before all else, and the tree that it is of not at all."""
        others = [each for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each and Path(each) != ROOT]
        return os.pathsep.join([*map(str, first), str(self.tree), *others])

    def run(self, tests: Sequence[str], seconds: float) -> Outcome:
        """Run these until one fails, with a cache folder of their own."""
        cache = linked(self._cache, self._scratch / "cache")
        environment = {"SIMTMM_CACHE": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}
        return self._ask([*WORDS, "-x", *tests], environment, seconds)

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
        return self._ask([*WORDS, "-p", "tests.mutation.recorder", *tests], environment, RECORDING)

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
        return Outcome(answer["status"], answer["seconds"], output.read_text(errors="replace"))
