"""recording(): the launches of a block of Python, in one trace."""

import contextlib
import logging
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from simtmm.cuda.compilers import architecture_of, architecture_of_today, bare_name
from simtmm.cuda.function import KernelFunction
from simtmm.errors import OutputError, RecordingError, SimtmmError, shown
from simtmm.files import check_writable, written_whole
from simtmm.machine import Machine
from simtmm.machine.load import opened_machine
from simtmm.recorder import limits
from simtmm.recorder.compiled.finish import finished
from simtmm.recorder.compiled.run import LaunchRuns
from simtmm.recorder.direct import current
from simtmm.recorder.direct.image import Image
from simtmm.recorder.direct.session import Session, Sizes
from simtmm.trace.io import Trace
from simtmm.trace.recording import TraceRecorder
from simtmm.trace.schema import Batch, TraceLaunch, sampled_blocks

logger = logging.getLogger("simtmm")


class _Abandoned(Exception):  # noqa: N818 - no error: tells a file under way that it won't be finished
    """A recording came to nothing."""


class Recording:
    """The launches of the block that it is entered for; see `recording`.

    name: of the program. architecture: that kernels are compiled for, compute capability times ten. note: a sentence
    for reports where that is not the machine's own; None where it is.
    """

    def __init__(
        self,
        name: str,
        architecture: int,
        note: str | None,
        output: Path | None,
        most: int,
        sample_blocks: int | None,
    ) -> None:
        """most: events of all launches. The others are those of `recording`."""
        self.name, self.architecture, self.note = name, architecture, note
        self._output, self._sample_blocks = output, sample_blocks
        self._session = Session(recorded=True)
        self._runs = LaunchRuns(self._session.device, most)
        self._images: dict[int, Image] = {}
        self._launches: list[TraceLaunch] = []
        self._silent: dict[str, list[int]] = {}  # launches without an access by kernel
        self._state, self._why_none = "not begun", "has not ended"
        self._open = contextlib.ExitStack()
        self._trace: Trace | None = None

    @property
    def launches(self) -> int:
        """Launches so far."""
        return len(self._launches)

    @property
    def trace(self) -> Trace:
        """What was recorded. Raises RecordingError before the block has ended, and where there is nothing to have."""
        if self._trace is None:
            raise RecordingError(f"recording {self.name!r}: has no trace: it {self._why_none}")
        return self._trace

    def __enter__(self) -> "Recording":
        if self._state != "not begun":
            raise RecordingError(f"recording {self.name!r}: is {self._state}: each is for one block")
        if self._output:
            check_writable(self._output)
        current.begin(self)
        self._state = "under way"
        try:
            path = self._open.enter_context(written_whole(self._output)) if self._output else None
            self._recorder = TraceRecorder(path, limits.most_bytes())
            self._open.callback(self._recorder.abandon)
        except BaseException:
            self._end("could not begin")
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, place: TracebackType | None
    ) -> None:
        if error is not None:
            self._end("ended with an error")
            return
        if not self._launches or self._why_none != "has not ended":
            self._end("launched no kernel" if not self._launches else self._why_none)
            if self._output:
                raise RecordingError(f"{self._output}: is not written: recording {self.name!r} {self._why_none}")
            return
        try:
            trace = self._finished()
        except BaseException:
            self._end("could not be finished")
            raise
        self._end("")
        self._trace = Trace(trace.info, self._output) if self._output else trace
        for doubt in trace.info.doubts:
            logger.warning("warning: recording %s: %s", self.name, doubt)

    def _finished(self) -> Trace:
        modules = [image.linked for image in self._images.values()]
        silent = [
            f"{kernel} recorded no access to memory in {len(numbers)} of its launches, the first {numbers[0]}"
            for kernel, numbers in self._silent.items()
        ]
        warnings = [*([self.note] if self.note else []), *silent]
        return finished(
            self._recorder, self.name, {}, self._launches, self._runs, modules, warnings, self._sample_blocks
        )

    def _end(self, why_no_trace: str) -> None:
        """Close what is open: a file is kept where there is a trace, and removed where not."""
        current.end()
        self._state, self._why_none = "over", why_no_trace
        if not why_no_trace:
            self._open.close()
            return
        abandoned = _Abandoned()
        with contextlib.suppress(_Abandoned):
            if not self._open.__exit__(_Abandoned, abandoned, None):
                raise abandoned

    def launch(self, image: Image, function: KernelFunction, sizes: Sizes, arguments: Sequence[Any]) -> None:
        """Run a kernel and record it; see simtmm.recorder.direct.current.

        A launch that ends with an error leaves arrays and events half-written, so that there will be no trace.
        """
        number, kernel = len(self._launches), bare_name(function.entry)
        where = f"{self.name}: launch {number} of {kernel}"
        if number == limits.MOST_LAUNCHES:
            raise RecordingError(f"{where}: a trace holds no more launches")
        prepared, held = self._session.prepare(image, function, sizes, arguments, where)
        self._images[id(image)] = image
        self._launches.append(self._runs.described(function, prepared))
        try:
            chosen = sampled_blocks(self._launches[-1].blocks, self._sample_blocks)
            with contextlib.closing(self._runs.run(function, prepared, number)) as batches:
                for batch in batches:
                    self._add(batch.of_blocks(chosen) if self._sample_blocks else batch)
        except BaseException as error:
            how = "with an error" if isinstance(error, SimtmmError) else f"by {type(error).__name__}"
            self._why_none = f"was spoiled: launch {number} of {kernel} ended {how}"
            raise
        finally:
            del held
        if not self._runs.has_accessed:
            self._silent.setdefault(kernel, []).append(number)

    def _add(self, batch: Batch) -> None:
        try:
            self._recorder.add(batch, self._launches)
        except OSError as error:
            raise OutputError(f"{self._output}: can't be written ({error.strerror or error})") from None


def recording(
    machine: Machine | str | Path | None = None,
    *,
    architecture: int | None = None,
    output: str | Path | None = None,
    most_events: int | None = None,
    sample_blocks: int | None = None,
    name: str = "program",
) -> Recording:
    """Record the kernels that are launched in a block: `with simtmm.recording() as recording:`.

    All launches of `simtmm.RawKernel` and `simtmm.RawModule` in it become one trace, `recording.trace`, once it has
    ended; `recording.launches` counts them. An exception that leaves the block leaves no trace and no file. One
    recording is under way at a time, of the launches of all threads.

    machine: whose architecture kernels are compiled for: a Machine, a machine's name, or a path to its file (.toml).
    architecture: compute capability times ten (90 for sm_90), in place of a machine; one of today if both are left out.
    output: stream the trace to this Parquet file, so that memory stays bounded; else it is held in memory.
    most_events: more are an error; if left out, a recording held in memory has a limit (simtmm.recorder.limits), one
        written to a file none.
    sample_blocks: record at most so many blocks of each launch, spread evenly over its grid, though all run.
    name: what the trace calls the program.

    Raises RecordingError, MachineError, OutputError, and CompilerError where there is no compiler.
    """
    if machine is not None and architecture is not None:
        raise RecordingError("machine and architecture are given: one says what is compiled for")
    for key, value in (("architecture", architecture), ("sample_blocks", sample_blocks)):
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
            raise RecordingError(f"{key} = {shown(value)}: must be a whole number of at least 1")
    if output is not None and not isinstance(output, (str, Path)):
        raise RecordingError(f"output = {shown(output)}: must be a path")
    if not isinstance(name, str) or not name or not name.isprintable():
        raise RecordingError(f"name = {shown(name)}: must be a text of one line")
    note = None
    if machine is not None:
        found = architecture_of(opened_machine(machine))
        architecture, note = found.number, found.note
    most = limits.most_events(most_events, in_memory=output is None)
    path = Path(output) if output is not None else None
    return Recording(name, architecture or architecture_of_today(), note, path, most, sample_blocks)
