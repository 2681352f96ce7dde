"""recording(): the launches of a block of Python, in one trace."""

import contextlib
import logging
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from simtmm.computer import NO_LIMIT
from simtmm.cuda.checks.active import check
from simtmm.cuda.compilers import architecture_of, architecture_of_today, bare_name
from simtmm.cuda.device import DeviceLaunch
from simtmm.cuda.function import KernelFunction
from simtmm.device import device_properties
from simtmm.device.stream import DEFAULT_STREAM, Stream
from simtmm.errors import OutputError, RecordingError, SimtmmError, shown
from simtmm.files import check_writable, written_whole
from simtmm.machine import Machine
from simtmm.recorder import limits
from simtmm.recorder.compiled.finish import finished
from simtmm.recorder.compiled.run import LaunchRuns
from simtmm.recorder.direct import current
from simtmm.recorder.direct.clock import Clock, KnownTraces, LaunchListener
from simtmm.recorder.direct.image import Image
from simtmm.recorder.direct.session import Session, Sizes
from simtmm.recorder.selection import Selection
from simtmm.trace.io import Trace
from simtmm.trace.recording import TraceRecorder
from simtmm.trace.sampled_blocks import sampled_blocks
from simtmm.trace.schema import Batch, TraceLaunch
from simtmm.watch import foresee_events, telling

logger = logging.getLogger("simtmm")


class _Abandoned(Exception):  # noqa: N818 - no error: tells a file under way that it won't be finished
    """A recording came to nothing."""


@dataclass(frozen=True)
class RecordingOptions:
    """How a program is recorded, as `simtmm.recording` describes each.

    Raises RecordingError for what can't be.
    """

    machine: Machine | None = None
    architecture: int | None = None
    output: str | Path | None = None
    most_events: int | None = None
    sample_blocks: int | None = None
    name: str = "program"

    def __post_init__(self) -> None:
        if self.machine is not None and self.architecture is not None:
            raise RecordingError("machine and architecture: give only one of them")
        for key, value in (("architecture", self.architecture), ("sample_blocks", self.sample_blocks)):
            if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
                raise RecordingError(f"{key} = {shown(value)}: must be a whole number of at least 1")
        if self.output is not None and not isinstance(self.output, (str, Path)):
            raise RecordingError(f"output = {shown(self.output)}: must be a path")
        if not isinstance(self.name, str) or not self.name or not self.name.isprintable():
            raise RecordingError(f"name = {shown(self.name)}: must be a text of one line")

    def compiled_for(self) -> tuple[int, str | None]:
        """Compute capability times ten, and a sentence where that is not the machine's own."""
        if self.machine is not None:
            found = architecture_of(self.machine)
            return found.number or architecture_of_today(), found.note
        return self.architecture or architecture_of_today(), None


class StoppedError(BaseException):
    """A program is to end: what is recorded so far is what there is. Not for the program to catch."""


class Recording:
    """The launches of the block that it is entered for; see `simtmm.recording`.

    name: of the program. architecture: that kernels are compiled for, compute capability times ten. note: a sentence
    for reports where that is not the machine's own; None where it is. clock: what events are read from; None where
    there is no machine. machine: what kernels are recorded for, if given. is_tuning: whether launches now are
    trials, which are timed and not recorded.
    """

    is_tuning = False

    def __init__(
        self,
        options: RecordingOptions,
        selection: Selection | None = None,
        clock: Clock | None = None,
        within: Callable[[], contextlib.AbstractContextManager[object]] = contextlib.nullcontext,
    ) -> None:
        """A recording that its block begins.

        selection: the launches to record; all if left out. The others run all the same, as fast as without a recording.
        clock: what events of this block are read from.
        within: what is entered and left with the block.

        Raises RecordingError for a limit that is none, and CompilerError where there is no compiler.
        """
        self.name, self.machine = options.name, options.machine
        self.architecture, self.note = options.compiled_for()
        self._output = Path(options.output) if options.output is not None else None
        self._sample_blocks = options.sample_blocks
        most = limits.most_events(options.most_events, in_memory=self._output is None)
        properties = device_properties(self.machine, self.architecture)
        self._session = Session(recorded=True, properties=properties, machine=self.machine)
        self._runs = LaunchRuns(self._session.device, most)
        self.clock, self._unrecorded = clock, LaunchRuns(self._session.device, NO_LIMIT)
        self._known = KnownTraces()
        self._chooser = (selection or Selection()).chooser()
        self._images: dict[int, Image] = {}
        self._held: dict[int, Image] = {}
        self._texts: dict[str, str] = {}
        self._launches: list[TraceLaunch] = []
        self._silent: dict[str, list[int]] = {}  # launches without an access by kernel
        self._state, self._why_none = "not begun", "has not ended"
        self._open, self._around, self._within = contextlib.ExitStack(), contextlib.ExitStack(), within
        self._trace: Trace | None = None
        self._most_launches: int | None = None
        self._until = math.inf
        self._run_blocks = 0  # of the launch under way
        self._blocks_of_last: int | None = None  # of a launch that was interrupted

    @property
    def launches(self) -> int:
        """Launches recorded so far."""
        return len(self._launches)

    @property
    def launched(self) -> int:
        """Launches so far, those included that were not chosen to be recorded."""
        return self._chooser.launches

    @property
    def has_trace(self) -> bool:
        """Whether its block has ended and there is something to have."""
        return self._trace is not None

    @property
    def trace(self) -> Trace:
        """What was recorded. Raises RecordingError before the block has ended, and where there is nothing to have."""
        if self._trace is None:
            raise RecordingError(f"recording {self.name!r}: has no trace: it {self._why_none}")
        return self._trace

    def __enter__(self) -> "Recording":
        if self._state != "not begun":
            raise RecordingError(f"recording {self.name!r}: is {self._state}: a recording is for one with block")
        if self._output:
            check_writable(self._output)
        current.begin(self)
        self._state = "under way"
        try:
            path = self._open.enter_context(written_whole(self._output)) if self._output else None
            self._recorder = TraceRecorder(path, limits.most_bytes())
            self._open.callback(self._recorder.abandon)
            self._around.enter_context(self._within())
        except BaseException:
            self._end("could not start")
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, place: TracebackType | None
    ) -> None:
        if self._state == "over":  # by `stop`
            return
        self._around.close()
        if error is not None:
            self._end("ended with an error")
            return
        if not self._launches or self._why_none != "has not ended":
            self._end(self._why_none if self._why_none != "has not ended" else self._why_no_launch())
            if self._output:
                raise RecordingError(f"{self._output}: was not written: recording {self.name!r} {self._why_none}")
            return
        try:
            trace = self._finished()
        except BaseException:
            self._end("could not be finished")
            raise
        self._end("")
        self._trace = Trace(trace.info, self._output) if self._output else trace
        for fault in trace.info.faults:
            logger.error("recording %s: %s", self.name, fault)
        for doubt in trace.info.doubts:
            logger.warning("warning: recording %s: %s", self.name, doubt)

    def stop_after(self, launches: int | None, seconds: float | None) -> None:
        """Have the launch behind so many, or the first after so many seconds, raise StoppedError.

        launches: how many go by; None for no limit.
        seconds: how long it may go on; None for no limit.
        """
        self._most_launches = launches
        self._until = math.inf if seconds is None else time.monotonic() + seconds

    def stop(self) -> Trace:
        """End it before its block does, and give the trace. Raises what leaving the block raises."""
        self.__exit__(None, None, None)
        return self.trace

    @property
    def sources(self) -> dict[str, tuple[str, ...]]:
        """The lines of the files that places of the trace name, as far as they can be read."""
        return {name: lines for image in self._images.values() for name, lines in image.linked.sources.items()}

    def _why_no_launch(self) -> str:
        if not self.launched:
            return "launched no kernel"
        return f"recorded none of its {self.launched} launches: {self._chooser.selection} selects none of them"

    def _finished(self) -> Trace:
        modules = [image.linked for image in self._images.values()]
        doubts = self._chooser.doubts(self.launches, self._silent)
        warnings = [*([self.note] if self.note else []), *doubts]
        kept = None
        if self._blocks_of_last is not None:
            most = self._sample_blocks
            kept = [min(most or launch.blocks, launch.blocks) for launch in self._launches]
            kept[-1] = min(kept[-1], self._blocks_of_last)
            warnings.append(f"the last launch was interrupted after {self._blocks_of_last:,} blocks")
        return finished(
            self._recorder, self.name, {}, self._launches, self._runs, modules, warnings,
            None if kept else self._sample_blocks, kept,
            origin=self.clock.to_provenance() if self.clock is not None else None,
        )  # fmt: skip

    def _end(self, why_no_trace: str) -> None:
        """Close what is open: a file stays if there is a trace, and is removed if not."""
        self._around.close()
        current.end()
        self._state, self._why_none = "over", why_no_trace
        if not why_no_trace:
            self._open.close()
            return
        abandoned = _Abandoned()
        with contextlib.suppress(_Abandoned):
            if not self._open.__exit__(_Abandoned, abandoned, None):
                raise abandoned

    def launch(
        self,
        image: Image,
        function: KernelFunction,
        sizes: Sizes,
        arguments: Sequence[Any],
        stream: Stream = DEFAULT_STREAM,
    ) -> None:
        """Run a kernel and record it, if it was chosen; see simtmm.recorder.direct.current.

        A launch that ends with an error leaves arrays and events half-written, so that there will be no trace.

        arguments: as the program gave them, in order.
        """
        if self.launched == self._most_launches or time.monotonic() > self._until:
            raise StoppedError
        number, kernel = self._chooser.launches, bare_name(function.entry)
        where = f"{self.name}: launch {number} of {kernel}"
        if len(self._launches) == limits.MOST_LAUNCHES:
            raise RecordingError(f"{where}: a trace can't have more launches")
        prepared, held = self._session.prepare(image, function, sizes, arguments, where, stream)
        is_chosen = not self.is_tuning and self._chooser.takes(kernel)
        is_timed = self.clock is not None and self.clock.armed
        try:
            if is_chosen or is_timed:
                self._follow(image, function, prepared, is_chosen, stream)
            else:
                check(self._session.device, function, prepared)
                self._session.device.launch(function, prepared)
            if self.clock is not None and not self.is_tuning:
                self.clock.called(kernel, f"{prepared.grid} {prepared.block}", is_chosen, stream)
        except KeyboardInterrupt:
            self._cut()
            raise
        except BaseException as error:
            how = "with an error" if isinstance(error, SimtmmError) else f"by {type(error).__name__}"
            self._why_none = f"is incomplete: launch {number} of {kernel} ended {how}"
            raise
        finally:
            del held

    def _follow(
        self, image: Image, function: KernelFunction, prepared: DeviceLaunch, is_chosen: bool, stream: Stream
    ) -> None:
        """Run a launch and keep its events, for the trace, where it was chosen, and for the clock, where it listens."""
        runs, number = (self._runs, len(self._launches)) if is_chosen else (self._unrecorded, 0)
        described = runs.described(function, prepared)
        if id(image) not in self._held:
            image.linked.name_apart(self._texts)
            self._held[id(image)] = image  # sites are known by the module's id
        if is_chosen:
            self._images[id(image)] = image
            self._launches.append(described)
        chosen = sampled_blocks(described.blocks, self._sample_blocks)
        self._run_blocks, run, before = 0, 0, self._recorder.events
        told = telling(f"recording launch {number + 1}" if is_chosen else "running a launch")
        with contextlib.ExitStack() as stack:
            clock = self.clock if self.clock is not None and self.clock.armed else None
            heard = stack.enter_context(contextlib.closing(LaunchListener(described, self._known))) if clock else None
            runs.straight = heard is None and not self._sample_blocks
            for batch in stack.enter_context(contextlib.closing(runs.run(function, prepared, number))):
                if heard is not None:
                    heard.add(batch)
                if is_chosen:
                    self._add(batch.of_blocks(chosen) if self._sample_blocks else batch)
                    self._run_blocks += len(batch.block)
                run = min(run + len(batch.block), described.blocks)
                told(run, described.blocks)
                if is_chosen and run:
                    foresee_events(before + (self._recorder.events - before) * described.blocks / run)
            if clock is not None and heard is not None:
                trace, footprint = heard.trace(runs, image.linked)
                clock.launched(trace, stream, footprint=footprint)
        if is_chosen and not runs.has_accessed:
            self._silent.setdefault(described.kernel, []).append(number)

    def _cut(self) -> None:
        """The launch under way stays with the blocks that have ended, if there are any."""
        if len(self._launches) < self._chooser.taken:
            return
        if not self._run_blocks:
            self._launches.pop()
        else:
            self._blocks_of_last = self._run_blocks

    def _add(self, batch: Batch) -> None:
        try:
            self._recorder.add(batch, self._launches)
        except OSError as error:
            raise OutputError(f"{self._output}: can't be written ({error.strerror or error})") from None
