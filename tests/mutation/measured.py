"""Which lines of a tree's package a process runs: for pytest and all that tests start.

From Python 3.12 on, the interpreter tells each line once a test (sys.monitoring), so that to measure all tests takes
about as long as to run them; before, coverage.py measures, which takes two to three times as long. A process that a
test starts must behave as it would unmeasured: it prints nothing of this, and imports no pytest. What it runs is told
at once, as a program's process ends without Python's having a say.
"""

import atexit
import gc
import os
import sys
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, Protocol

DATA = "SIMTMM_COVERAGE"  # a variable: where the lines go
SITE = """\
import os
if "SIMTMM_COVERAGE" in os.environ and "PYTEST_CURRENT_TEST" in os.environ:
    try:
        from tests.mutation.measured import measure
        measure(True).switch_context(os.environ["PYTEST_CURRENT_TEST"].rpartition(" (")[0])
    except Exception:
        pass
"""
PACKAGE = Path(__file__).parents[2] / "simtmm"  # whatever folder a process is started in
_WITHIN = f"{PACKAGE}{os.sep}"  # how its files' paths begin
WARNINGS = ["module-not-imported", "module-not-measured", "no-data-collected", "already-imported"]
TOLD_LINES = (3, 12)  # the Python that has sys.monitoring
WRITTEN = ".lines"  # what a file is called at its end that a test's child writes
FREE_TOOL = 4  # a number of sys.monitoring's tools that no debugger or profiler has


class Measured(Protocol):
    """What measures lines, each for the context that it was told last."""

    def switch_context(self, new_context: str) -> None:
        """Count lines for a test by its name from here on; for none by an empty one."""

    def stop(self) -> None:
        """Count no more lines."""

    def save(self) -> None:
        """Write down what was counted, as coverage.py's data."""


def measure(of_child: bool) -> Measured:
    """Begin to measure. of_child: in a process that a test started, whose data lie beside its parent's."""
    if sys.version_info >= TOLD_LINES:
        return WrittenLines(os.environ[DATA]) if of_child else ToldLines(Path(os.environ[DATA]))
    measured = _coverage(of_child)
    if of_child:
        atexit.register(lambda: (measured.stop(), measured.save()))
    return measured


def written_lines(place: Path) -> Iterator[tuple[str, str, int]]:
    """What processes that tests started have written beside a file of data: the test, the source, the line."""
    for part in sorted(place.parent.glob(f"{place.name}.*{WRITTEN}")):
        for told in part.read_text(encoding="utf-8", errors="replace").splitlines():
            test, _, rest = told.partition("\t")
            file, _, line = rest.rpartition("\t")
            if line.isdigit():  # a process may have been ended while it wrote
                yield test, file, int(line)


class ToldLines:
    """Lines as the interpreter tells them: each line of the package once for each context."""

    def __init__(self, data: Path) -> None:
        """data: the file that is written."""
        self._data = data
        self._context, self._lines = "", dict[str, dict[str, set[int]]]()
        self._tool: Any = sys.monitoring  # type: ignore[attr-defined, unused-ignore] # of a later Python than mypy's
        self._tool.use_tool_id(FREE_TOOL, "simtmm's tests")
        self._tool.register_callback(FREE_TOOL, self._tool.events.LINE, self._ran)
        for each in gc.get_objects():  # what conftest.py has imported
            if isinstance(each, FunctionType) and each.__code__.co_filename.startswith(_WITHIN):
                self._tell(each.__code__)
        self._got = SourceFileLoader.get_code
        SourceFileLoader.get_code = self._with_events()  # type: ignore[method-assign]

    def _with_events(self) -> Any:
        """How modules are loaded: those of the package with events of their lines."""
        got = self._got

        def get_code(loader: SourceFileLoader, name: str) -> CodeType | None:
            code = got(loader, name)
            if code is not None and code.co_filename.startswith(_WITHIN):
                self._tell(code)
            return code

        return get_code

    def _tell(self, code: CodeType) -> None:
        self._tool.set_local_events(FREE_TOOL, code, self._tool.events.LINE)
        for each in code.co_consts:
            if isinstance(each, CodeType):
                self._tell(each)

    def _ran(self, code: CodeType, line: int) -> Any:
        if self._context:
            self._note(code.co_filename, line)
        return self._tool.DISABLE  # until the next context

    def _note(self, file: str, line: int) -> None:
        self._lines[self._context].setdefault(file, set()).add(line)

    def switch_context(self, new_context: str) -> None:
        """Count lines for a test by its name from here on; for none by an empty one."""
        self._context = new_context
        self._lines.setdefault(new_context, {})
        self._tool.restart_events()

    def stop(self) -> None:
        """Count no more lines."""
        self._context = ""
        SourceFileLoader.get_code = self._got  # type: ignore[method-assign]
        self._tool.free_tool_id(FREE_TOOL)

    def save(self) -> None:
        """Write down what was counted, as coverage.py's data."""
        from coverage import CoverageData

        data = CoverageData(str(self._data))
        for name, lines in self._lines.items():
            if name and lines:
                data.set_context(name)
                data.add_lines(lines)
        data.write()


class WrittenLines(ToldLines):
    """Likewise, each written as it comes, by a process and by those that are forked from it to files of their own."""

    def __init__(self, data: str) -> None:
        """data: how the files are called that are written, before a number."""
        self._place, self._owner, self._file = data, 0, -1
        super().__init__(Path(data))

    def _note(self, file: str, line: int) -> None:
        if self._owner != os.getpid():
            self._owner = os.getpid()
            place = f"{self._place}.{self._owner}{WRITTEN}"
            self._file = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        os.write(self._file, f"{self._context}\t{file}\t{line}\n".encode())


def _coverage(of_child: bool) -> Measured:
    import coverage  # late: runs of faults do without

    measured = coverage.Coverage(
        data_file=os.environ[DATA], data_suffix=of_child or None, source=[str(PACKAGE)], config_file=False,
        messages=False, check_preimported=False,
    )  # fmt: skip
    measured.set_option("run:disable_warnings", WARNINGS)
    measured.start()
    return measured
