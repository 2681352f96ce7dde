"""A plugin of pytest: which test ran which lines, in its own process and in those that it starts, and how long it took.

Coverage.py measures, with the test's name as its context (measured.py). What a test imports first runs then, and in no
later test: the lines of a module's top count for nothing. Loops that become machine code run unseen, so tests that run
some are run once more with loops as Python. A test may have a limit of its own, and a file of tests one for all of its
tests: what a test has run until then counts, as of one that passes, and what its file has no time for is left out.
"""

import json
import os
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.mutation.measured import DATA, measure

RESULT = "SIMTMM_COVERAGE_RESULT"  # a variable: where the tests' times go
LIMITS = "SIMTMM_COVERAGE_LIMITS"  # a variable: seconds of a test and of a file of tests
LOOPS = "SIMTMM_COVERAGE_LOOPS"  # a variable: whether loops are run as Python
WAITED = 12  # times the seconds of a test, by the clock


def _spent() -> float:
    return sum(
        found.ru_utime + found.ru_stime
        for found in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


class Recorder:
    """Notes of each test its outcome and its seconds of the processor."""

    def __init__(self) -> None:
        self._measured = measure(False)
        self._tests: dict[str, dict[str, Any]] = {}
        self._running = "", 0.0

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Any:
        begun = _spent()
        self._running = item.nodeid, begun
        self._measured.switch_context(item.nodeid)
        self._tests[item.nodeid] = {"passed": False}
        try:
            return (yield)
        finally:
            self._measured.switch_context("")
            self._tests[item.nodeid]["seconds"] = _spent() - begun

    def pytest_runtest_makereport(self, item: Any, call: Any) -> None:
        if call.excinfo is not None and call.excinfo.errisinstance(OverError):
            self._tests[item.nodeid]["over"] = True

    def pytest_runtest_logreport(self, report: Any) -> None:
        test = self._tests[report.nodeid]
        if report.when == "call":
            test["passed"] = report.passed
        elif not report.passed:
            test["passed"] = False

    def pytest_sessionfinish(self) -> None:
        self.save()

    def save(self) -> None:
        """Write down what was noted so far. A test that is still running had more than its seconds."""
        name, begun = self._running
        if name and "seconds" not in self._tests[name]:
            self._tests[name] |= {"over": True, "seconds": _spent() - begun}
        self._measured.stop()
        self._measured.save()
        Path(os.environ[RESULT]).write_text(json.dumps(self._tests), encoding="utf-8")


class OverError(BaseException):
    """A test has had its seconds. No Exception, which Hypothesis would look for a smaller example of."""


def loops_as_python() -> None:
    """Run what would be machine code as the Python that it is written in."""
    from simtmm.native import Loop, as_python

    Loop.__call__ = lambda self, *arguments: as_python(self.function)(*arguments) or 0  # type: ignore[method-assign]


class Limits:
    """Ends tests that have had their seconds, and skips those of files that have had theirs.

    A test that goes on after its seconds, because it waits for a thread that they ended, ends the process.
    """

    def __init__(self, of_test: float, of_file: float, recorder: Recorder) -> None:
        self._of_test, self._of_file, self._recorder = of_test, of_file, recorder
        self._spent: dict[str, float] = {}
        signal.signal(signal.SIGPROF, self._end_test)
        signal.signal(signal.SIGALRM, self._end_all)

    def _end_test(self, number: int, frame: object) -> None:
        raise OverError(f"over {self._of_test:g} seconds")

    def _end_all(self, number: int, frame: object) -> None:
        self._recorder.save()
        os._exit(0)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: Any) -> Any:
        with self._limited(item):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: Any) -> Any:
        with self._limited(item):
            return (yield)

    @contextmanager
    def _limited(self, item: Any) -> Iterator[None]:
        """Bounds what runs: raises OverError in it, or ends the process."""
        file = item.nodeid.partition("::")[0]
        if self._spent.get(file, 0.0) > self._of_file:
            pytest.skip("its file has had its seconds")
        begun = _spent()
        signal.setitimer(signal.ITIMER_PROF, self._of_test, self._of_test)
        signal.setitimer(signal.ITIMER_REAL, WAITED * self._of_test)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)
            self._spent[file] = self._spent.get(file, 0.0) + _spent() - begun


def pytest_configure(config: Any) -> None:
    if DATA in os.environ:
        recorder = Recorder()
        config.pluginmanager.register(recorder)
        if LIMITS in os.environ:
            config.pluginmanager.register(Limits(*json.loads(os.environ[LIMITS]), recorder))
    if LOOPS in os.environ:
        loops_as_python()
