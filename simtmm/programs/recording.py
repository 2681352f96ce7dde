"""The recording of a program's launches: which are recorded, and how much of each."""

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from simtmm.computer import NO_LIMIT
from simtmm.cuda.checks.active import check
from simtmm.cuda.compilers import bare_name
from simtmm.cuda.device import DeviceLaunch
from simtmm.cuda.execution.launches.run import Log
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.linked import LinkedModule
from simtmm.device.residence import Footprint
from simtmm.errors import OutputError, RecordingError, SimtmmError, one_line
from simtmm.programs.budget import Budget
from simtmm.programs.copies import Copies
from simtmm.programs.kernels import DeviceOfProgram
from simtmm.programs.repeats import Repeats
from simtmm.recorder import limits
from simtmm.recorder.compiled.finish import finished
from simtmm.recorder.compiled.run import LaunchRuns
from simtmm.recorder.direct.clock import Clock, KnownTraces, LaunchListener
from simtmm.recorder.direct.journal import Journal
from simtmm.recorder.selection import Selection
from simtmm.trace.io import Trace
from simtmm.trace.recording import TraceRecorder
from simtmm.trace.sampled_blocks import sampled_blocks
from simtmm.trace.schema import TraceLaunch
from simtmm.watch import foresee_events, tell

RECORDED_EVENTS, RECORDED_LAUNCHES = 10_000_000, 200  # of a trace, behind which launches that repeat one are not run
MOST_TIMED = 80_000_000  # events of launches that are simulated for the program's own clock
TIMED_SHARE = 4  # what one of them may take of what is left: this part, beside its first blocks


class NoLaunchError(RecordingError):
    """A program launched nothing, which may be as it should."""


class ProgramRecording:
    """Launches on a program's device, recorded or not."""

    def __init__(  # noqa: PLR0913, PLR0917 - each is an option of the recording
        self,
        device: DeviceOfProgram,
        name: str,
        output: Path,
        selection: Selection,
        sample_blocks: int | None,
        most_events: int | None,
        clock: Clock,
        is_over: Callable[[], bool] = lambda: False,
        repeats: Repeats | None = None,
        budget: Budget | None = None,
    ) -> None:
        """output: the trace's file. sample_blocks: of each launch; all if left out. most_events: more are an error.

        is_over: whether a launch under way is to end with what it has. repeats: finds launches that need not run; if
        left out, all do. budget: of the trace; if left out, it has everything.
        """
        self._budget = budget or Budget(is_bounded=False)
        self._process = os.getpid()
        self._repeats = repeats
        self.not_run = 0  # launches that repeated one
        self.launched_in_fork = 0  # of a process that the program forked
        self._repeated = 0  # those of them that a trace would have
        self.name, self.clock, self.copies = name, clock, Copies()
        self.journal: Journal | None = None
        self._is_over = is_over
        self._whole = 0  # launches in the trace that ended well
        self._spoiled: list[str] = []  # what became of the others
        self._device, self._sample_blocks = device, sample_blocks
        self._chooser = selection.chooser()
        self._runs = LaunchRuns(device, most_events or NO_LIMIT)
        self._timed_runs = LaunchRuns(device, NO_LIMIT)
        self._lost = ""  # why there is no trace, though launches were recorded
        with self._written():
            self._recorder = TraceRecorder(output, limits.most_bytes())
        self._launches: list[TraceLaunch] = []
        self._kept: list[int] = []  # blocks of each
        self._time_left = MOST_TIMED
        # The last of each kernel and shape, how many blocks it has, where the trace has only the first of them, and the
        # memory that the trace accesses.
        self._timed: dict[tuple[str, object], tuple[Trace, int | None, Footprint]] = {}
        self._known = KnownTraces()
        self._untimed = self._timed_in_part = 0
        self._modules: dict[int, LinkedModule] = {}
        self._silent: dict[str, list[int]] = {}

    @property
    def launched(self) -> int:
        """Launches so far."""
        return self._chooser.launches

    @property
    def recorded(self) -> int:
        """Those of them that are in the trace."""
        return len(self._launches)

    @property
    def is_forked(self) -> bool:
        """Whether this is a process that the program forked: the trace's file is its parent's alone."""
        return os.getpid() != self._process

    def launch(
        self, function: KernelFunction, launch: DeviceLaunch, stream: int, follows_in_graph: bool = False
    ) -> None:
        """Run a kernel to its end. Raises what `Device.run` raises.

        follows_in_graph: whether a graph launches it that has launched another one before.
        """
        if self.is_forked:
            self.launched_in_fork += 1
            self._run_unrecorded(function, launch, stream, follows_in_graph)
            return
        is_chosen = self._chooser.takes(bare_name(function.entry)) and len(self._launches) < limits.MOST_LAUNCHES
        if self._is_repeated(function, launch, is_chosen):
            self.not_run += 1
            self._repeated += is_chosen
            if self.clock.armed:
                self._tell_again(function, launch, stream, follows_in_graph)
            return
        followed = self._repeats.follow(function, launch) if self._repeats is not None else None
        has_ended = False
        try:
            self._run(function, launch, stream, follows_in_graph, is_chosen)
            has_ended = True
        finally:
            if self._repeats is not None:
                self._repeats.ran(function, launch, followed, has_ended)

    def _is_repeated(self, function: KernelFunction, launch: DeviceLaunch, is_chosen: bool) -> bool:
        """Whether a launch need not run, as it repeats one; those of small traces do all the same, for the trace."""
        change = None if self._repeats is None else self._repeats.find(function, launch)
        is_small = self._recorder.events < RECORDED_EVENTS and len(self._launches) < RECORDED_LAUNCHES
        is_untimed = self.clock.armed and _shape(function, launch) not in self._timed
        if self._repeats is None or change is None or (is_chosen and is_small) or is_untimed:
            return False
        self._repeats.apply(change)
        return True

    def _run(
        self, function: KernelFunction, launch: DeviceLaunch, stream: int, follows_in_graph: bool, is_chosen: bool
    ) -> None:
        """Run a launch that does not repeat one."""
        is_timed = self.clock.armed and (self._time_left > 0 or _shape(function, launch) not in self._timed)
        most = None
        if is_chosen:
            most = self._budget.events(_shape(function, launch), self._recorder.events, len(self._launches))
        if is_chosen and most != 0:
            with self._kept_as_far_as_it_came(launch):
                self._follow(function, launch, True, is_timed, stream, follows_in_graph, most)
        elif is_timed:
            self._follow(function, launch, False, is_timed, stream, follows_in_graph)
        else:
            self._run_unrecorded(function, launch, stream, follows_in_graph)

    def _run_unrecorded(
        self, function: KernelFunction, launch: DeviceLaunch, stream: int, follows_in_graph: bool
    ) -> None:
        check(self._device, function, launch)
        self._device.launch(function, launch)
        if self.clock.armed:
            self._tell_again(function, launch, stream, follows_in_graph)

    @contextlib.contextmanager
    def _kept_as_far_as_it_came(self, launch: DeviceLaunch) -> Iterator[None]:
        """A launch that ends with an error stays in the trace with the blocks that ended, if there are any."""
        before = len(self._launches)
        try:
            yield
        except SimtmmError as error:
            if len(self._launches) > before and not self._kept[-1]:
                self._launches.pop()
                self._kept.pop()
            where = "with its blocks up to there" if len(self._launches) > before else "not in the trace"
            self._spoiled.append(f"{one_line(str(error))} ({where})")
            raise
        self._whole += 1

    def _follow(  # noqa: C901 - what is chosen, timed and sampled of a launch, batch by batch
        self,
        function: KernelFunction,
        launch: DeviceLaunch,
        is_chosen: bool,
        is_timed: bool,
        stream: int,
        follows_in_graph: bool,
        most: int | None = None,
    ) -> None:
        """Run a launch with its events. most: events after which no more blocks are recorded."""
        runs, number = (self._runs, len(self._launches)) if is_chosen else (self._timed_runs, 0)
        described = runs.described(function, launch)
        if is_chosen:
            self._modules[id(function.linked)] = function.linked
            self._launches.append(replace(described, in_graph=follows_in_graph))
            self._kept.append(0)
        blocks = min(described.blocks, self._sample_blocks or described.blocks)
        run, stage = 0, f"recording launch {number + 1}" if is_chosen else "running a launch"
        tell(stage, 0, described.blocks)
        most_timed, timed, is_cut = max(0, self._time_left) // TIMED_SHARE, 0, False
        heard_blocks = 0
        log, before = Log(), self._recorder.events

        def check_over(ended: int) -> None:
            if ended > 0 and is_chosen:
                foresee_events(before + (self._recorder.events - before) * described.blocks / ended)
            tell(stage, ended, described.blocks)
            if self._is_over():
                raise RecordingError(f"{launch.where}: was stopped after {ended:,} of {described.blocks:,} blocks")

        with contextlib.ExitStack() as stack:
            heard = (
                stack.enter_context(contextlib.closing(LaunchListener(described, self._known))) if is_timed else None
            )
            runs.straight = heard is None and blocks >= described.blocks and most is None
            for batch in stack.enter_context(contextlib.closing(runs.run(function, launch, number, log, check_over))):
                run += len(batch.block)
                if is_chosen:
                    self._kept[-1] = min(run, blocks)
                part = (
                    batch if blocks >= described.blocks else batch.of_blocks(sampled_blocks(described.blocks, blocks))
                )
                if heard is not None and not is_cut and (not timed or timed + len(batch.events) <= most_timed):
                    heard.add(batch)
                    timed += len(batch.events)
                    heard_blocks = max(heard_blocks, int(batch.block.max(initial=-1)) + 1)
                else:
                    is_cut = heard is not None  # what comes behind it is left out, too
                if is_chosen:
                    with self._written():
                        self._recorder.add(part, self._launches)
                    log.is_over = most is not None and self._recorder.events - before >= most
                elif is_cut:
                    log.is_over = True
                check_over(min(run, described.blocks))
            if heard is not None:
                self._time_left -= timed
                self._timed_in_part += is_cut
                trace, footprint = heard.trace(runs, function.linked, heard_blocks if is_cut else None)
                of = described.blocks if is_cut else None
                self._timed[_shape(function, launch)] = trace, of, footprint
                self.clock.launched(trace, stream, of, follows_in_graph, footprint)
        if is_chosen:
            self._kept[-1] = min(run, blocks) if log.is_over else blocks if run else described.blocks
            if not runs.has_accessed:
                self._silent.setdefault(described.kernel, []).append(number)
        if self.clock.armed and not is_timed:
            self._tell_again(function, launch, stream, follows_in_graph)

    def _tell_again(self, function: KernelFunction, launch: DeviceLaunch, stream: int, follows_in_graph: bool) -> None:
        """A launch that is not simulated for itself takes what the last of its kernel and shape did."""
        self._untimed += 1
        known = self._timed.get(_shape(function, launch))
        if known is not None:
            trace, of, footprint = known
            self.clock.launched(trace, stream, of, follows_in_graph, footprint)

    @contextlib.contextmanager
    def _written(self) -> Iterator[None]:
        """What is done here writes to the trace's file. Raises OutputError."""
        try:
            yield
        except OSError as error:
            self._lost = f"the trace of {self.name} can't be written ({os.strerror(error.errno or 0)})"
            raise OutputError(self._lost) from None

    def finish(self, warnings: Sequence[str]) -> Trace:
        """The trace, in its file. Raises RecordingError where there is no launch in it, OutputError."""
        if self._lost:
            self.abandon()
            raise OutputError(self._lost)
        if not self._whole:
            self.abandon()
            if not self.launched:
                raise NoLaunchError(f"{self.name}: launched no kernel")
            if self._spoiled:
                raise RecordingError(f"{self._spoiled[0]}")
            raise RecordingError(
                f"{self.name}: none of its {self.launched} launches is recorded: {self._chooser.selection}"
            )
        doubts = [
            *self._spoiled,
            *warnings,
            *self._chooser.doubts(self.recorded + self._repeated + self._budget.left_out, self._silent),
        ]
        doubts += self._budget.words
        if self._repeated:
            doubts.append(
                f"{self._repeated:,} launches repeated earlier ones on the same data: they are not in the trace"
            )
        if self._untimed:
            doubts.append(
                f"the program's own times of {self._untimed} launches are those of earlier launches of the same kernels"
            )
        if self._timed_in_part:
            doubts.append(
                f"the program's own times of {self._timed_in_part} launches are of their first blocks, in proportion"
            )
        with self._written():
            return finished(
                self._recorder, self.name, {}, self._launches, self._runs, list(self._modules.values()), doubts,
                kept_blocks=self._kept, kept_first=self._sample_blocks is None and not self._spoiled,
                origin=self.copies.to_provenance()
                | (self.journal.to_provenance() if self.journal is not None else {})
                | ({"launched": self.launched} if self.launched > len(self._launches) else {}),
            )  # fmt: skip

    def abandon(self) -> None:
        """There will be no trace."""
        self._recorder.abandon()


def _shape(function: KernelFunction, launch: DeviceLaunch) -> tuple[str, object]:
    return function.entry, (launch.grid, launch.block)
