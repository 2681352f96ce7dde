"""Progress of long work, on standard error: how long it takes, and how far it is.

On a terminal there are bars with the time that is left; elsewhere a line now and then. Before that, a line says about
how long a stage takes, as soon as its rate is known, if that is worth one.
"""

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from simtmm.cache.durations import paces, remember_paces
from simtmm.parallel.tasks import STEPS
from simtmm.report.command_time import command
from simtmm.report.outlook import Outlook, unknown_of
from simtmm.report.slowness import Slowness
from simtmm.watch import Watch, foreseen_by, repeated_by, watched

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE = 1.0  # seconds before anything is shown
REFRESH = 0.2  # seconds between two looks
LONG = 5.0  # seconds from which on an estimate is printed beforehand
LINES = 10.0  # seconds between two lines, where no terminal shows bars
SLOWER = 0.1  # of the time that has gone by, which lines are apart at least: a long run's log stays short
FIRST = (
    2.0  # seconds of a command, loaded within one, after which an estimate stands, if only of what it takes at least
)
SURE = 1.0  # seconds of steady work from which its rate is taken
LATE = 30.0  # seconds after which what came before the first step, such as compiling, spoils the rate no longer
STRAY = 10.0  # times as long a step as the others, from which on one is taken for something else, such as compiling
ALONE = 10.0  # seconds from which on a wait that is nearly all that was seen tells no rate
FAR_OFF = 2.0  # times an estimate, from which on it is corrected
OFF = 1.4  # likewise, of one for all stages
AGREES = 2.5  # times what a command took the last time, within which an estimate gives way to that
LEARNT = 0.5  # seconds, foreseen and taken, from which on a stage says how fast this computer is
OVERALL = ("points", "cases", "simulations", "configurations")  # stages within which others come and go


@contextlib.contextmanager
def watching(at_once: bool = False, in_lines: bool = False, launches: int | None = None) -> Iterator[Watch]:
    """A function that takes (stage, done, total), as often as one likes, and what is reported to simtmm.watch.

    at_once: whether the first line comes after a second where no terminal shows bars. in_lines: no bars on a terminal
    either, as others write to it meanwhile. launches: that a program will have, about; None where nobody knows.
    """
    shown = _Bars() if sys.stderr.isatty() and not in_lines else _Lines(at_once)
    shown.outlook.launches = launches
    with shown, watched(shown.watch), foreseen_by(shown.foresee), repeated_by(shown.outlook.repeats):
        yield shown.watch


@dataclass
class _Pace:
    """A stage as it was last reported.

    begun: when it began [s]. done, total: of it; the total is None where nobody knows it. at: when that was [s].
    """

    begun: float
    done: int = 0
    total: int | None = None
    at: float = 0.0
    _first: tuple[float, int] | None = None  # when the first step had been done, and what it was
    _slowest: tuple[float, int] = 0.0, 1  # since then: the seconds and steps between two reports, where it was slowest

    def update(self, done: int, total: int | None, now: float) -> None:
        """Take in what is done now."""
        if done < self.done or self.total not in (None, total):  # the next piece of work of its kind
            self.begun, self._first = now, None
        elif self._first is not None and done > self.done:
            waited, steps = now - self.at, done - self.done
            if waited / steps > self._slowest[0] / self._slowest[1]:
                self._slowest = waited, steps
        self.done, self.total, self.at = done, total, now
        if done > 0 and self._first is None:
            self._first, self._slowest = (now, done), (0.0, 1)

    def left(self, now: float) -> float | None:
        """About how many seconds it still takes; None while that is unknown.

        The first step is left out, as it compiles and imports what the others find; unless that is long ago. So is one
        behind it that takes many times as long as the others.
        """
        if self.total is None or self._first is None or self.done >= self.total:
            return None
        began, done = self._first
        if self.at - began < SURE or self.done == done:
            if self.at - self.begun < LATE:
                return None
            began, done = self.begun, 0
        took, steps = self.at - began, self.done - done
        waited, late = self._slowest
        if took - waited >= SURE and steps > late and waited / late > STRAY * (took - waited) / (steps - late):
            took, steps = took - waited, steps - late
        elif waited > ALONE and took - waited < SURE:
            return None
        of_each = took / steps
        left = (self.total - self.done) * of_each - (now - self.at)
        # Where it is up and no end is seen, the steps have become slower
        return left if left > 0 else (self.total - self.done) * (now - began) / (self.done - done)


class _Shown:
    """The stages under way: the one that others come and go in, if any, and the one that was reported last.

    A thread looks at them now and then, so that what takes long shows even while nothing is reported.
    """

    def __init__(self) -> None:
        self._overall: tuple[str, _Pace] | None = None
        self._stage: tuple[str, _Pace] | None = None
        self._forecast: dict[str, tuple[str, float, float]] = {}  # of a kind of stage: which, its seconds, and when
        self._is_unknown_told = False
        self.outlook, self._slowness = Outlook(), Slowness()
        self._begun = monotonic()
        self._command = command(self._begun)
        self._paces = paces()
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, name="simtmm-progress", daemon=True)

    def __enter__(self) -> None:
        with _no_interrupts():  # Ctrl-C is for the main thread
            self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self.end()
        self._learn(monotonic())

    def watch(self, stage: str, done: int, total: int | None) -> None:
        """Take in a report."""
        now = monotonic()
        with self._lock:
            known = self._overall if stage in OVERALL else self._stage
            if known is None or known[0] != stage:
                known = stage, _Pace(now)
            known[1].update(done, total, now)
            if stage in OVERALL:
                self._overall, self._stage = known, self._stage if done else None  # none is left from before
            else:
                self._stage = known
                self.outlook.begin(stage, now)

    def foresee(self, seconds: Mapping[str, float]) -> None:
        """Take in what later stages take, by stage, in their order: as long as foreseen, by this computer's pace."""
        with self._lock:
            self.outlook.foresee({stage: each * self._paces.get(stage, 1.0) for stage, each in seconds.items()})

    def _learn(self, now: float) -> None:
        """Remember how long stages took, compared with what was foreseen, of a command that was not soon done."""
        if now - self._command.begun < PATIENCE:
            return
        self.outlook.end(now)
        seen = {stage: both for stage, both in self.outlook.taken.items() if min(both) >= LEARNT}
        remember_paces({stage: self._paces.get(stage, 1.0) * took / by for stage, (by, took) in seen.items()})

    def _look(self) -> None:
        if self._ended.wait(PATIENCE):
            return
        while not self._ended.wait(REFRESH):
            self._slowness.look()
            with self._lock:
                self.outlook.times = self._slowness.times
                stages = [stage for stage in (self._overall, self._stage) if stage is not None]
                if stages:
                    self.show(stages, monotonic())

    def left(self, stages: list[tuple[str, _Pace]], now: float) -> tuple[float, str] | None:
        """About how many seconds all stages still take, where those to come are foreseen or the command has run
        before; else None. And words that say that they may be more.
        """
        stage, pace = stages[0]
        if stage in OVERALL:
            return None
        part, least = pace.done / pace.total if pace.total else 0.0, "" if self.outlook.ends(stage) else "at least "
        left, known = self.outlook.left(pace.left(now), part, now), self._command.left(now)
        taken = now - self._command.begun
        if left is None and taken >= (FIRST if least or pace.total is None else FIRST + 2 * SURE):
            left, least = self.outlook.at_least(now), "at least "
        if left is None:
            return None if known is None else (known, "")
        if known is not None:
            is_near = left <= known if least else 1 / AGREES < (taken + known) / (taken + left) < AGREES
            if is_near:
                return known, ""
        return left, least

    def forecast(self, stages: list[tuple[str, _Pace]], now: float) -> str | None:
        """The estimate of how long all stages take, or the outermost one, for its kind, where it is not known what
        comes behind it; again where that was far off.
        """
        found = self.left(stages, now)
        again = self.outlook.if_as_many_follow(now)
        known = self.outlook.known(stages[0][0])
        unknown = known or unknown_of(stages[0][0], None if again is None else _duration(again))
        if found is None:
            line = self._forecast_of_stage(stages, now)
        else:
            line = self._forecast_of_all(*found, now, f": {unknown}" if (found[1] and unknown) or known else "")
            unknown = unknown if found[1] and self._command.told is None else ""
        if line is None and unknown and not self._is_unknown_told and now - self._command.begun >= FIRST:
            self._is_unknown_told = True
            return f"simtmm: {unknown}"
        return line

    def _forecast_of_all(self, left: float, least: str, now: float, unknown: str) -> str | None:
        """Likewise, of so many seconds that are left of all stages. least: words that say that they may be more.
        unknown: words on what nobody can know of it.
        """
        whole = now - self._command.begun + left
        if self._command.told is None:
            if left < LONG:
                return None
            self._command.told, self._command.is_least = (whole, now), bool(least)
            return f"simtmm: takes {least}about {_duration(left)} more{unknown}"
        told, at = self._command.told
        is_better = self._command.is_least and not least  # the first that is more than a least time
        if told / OFF < whole < OFF * told or (now - at < LINES and not is_better):
            return None
        self._command.told, self._command.is_least = (whole, now), bool(least)
        return f"simtmm: takes {least}about {_duration(left)} more, and not {_duration(told)} in all{unknown}"

    def _forecast_of_stage(self, stages: list[tuple[str, _Pace]], now: float) -> str | None:
        stage, pace = stages[0]
        kind, left = stage.split()[0], pace.left(now)
        if left is None and stages[-1][0] == STEPS:  # which are finer than the points
            left = stages[-1][1].left(now)
        if left is None or left < LONG:
            return None
        before, whole = self._forecast.get(kind), now - pace.begun + left
        if before is None:
            self._forecast[kind] = stage, whole, now
            return f"simtmm: {stage}: takes about {_duration(left)}"
        of, told, at = before
        if of != stage or told / FAR_OFF < whole < FAR_OFF * told or now - at < LINES:
            return None
        self._forecast[kind] = stage, whole, now
        return f"simtmm: {stage}: takes about {_duration(left)} more, and not {_duration(told)} in all"

    def show(self, stages: list[tuple[str, _Pace]], now: float) -> None:
        """Show stages that are under way, the outer one first."""
        raise NotImplementedError

    def end(self) -> None:
        """Take away what is shown."""


class _Lines(_Shown):
    """A line now and then."""

    _last: float | None = None

    def __init__(self, at_once: bool = False) -> None:
        """at_once: see `watching`."""
        super().__init__()
        self._first = PATIENCE if at_once else LINES

    def show(self, stages: list[tuple[str, _Pace]], now: float) -> None:
        """See _Shown."""
        line = self.forecast(stages, now)
        last = self._begun if self._last is None else self._last
        wait, found = self._first if self._last is None else LINES, self.left(stages, now)
        pace = stages[0][1]
        if self._last is None and found is None and pace.done != pace.total and pace.left(now) is None:
            wait = min(wait, FIRST)  # where nothing is known of the time, what goes on is said
        if line is None and now - last >= max(wait, SLOWER * (now - self._begun)):
            line = f"simtmm: {'; '.join(_progress_line(stage, pace, now) for stage, pace in stages)}"
            line += "" if found is None else f"; {found[1]}about {_duration(found[0])} left in all"
        if line is not None:
            self._last = now
            print(line, file=sys.stderr, flush=True)


class _Bars(_Shown):
    """A bar for each stage under way, and the time that it still takes."""

    _bars: "Progress | None" = None
    _tasks: "tuple[TaskID, ...]" = ()

    def show(self, stages: list[tuple[str, _Pace]], now: float) -> None:
        """See _Shown."""
        if self._bars is None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

            columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn()
            times = TextColumn("{task.fields[left]}"), TimeElapsedColumn()
            self._bars = Progress(*columns, *times, console=Console(stderr=True), transient=True, auto_refresh=False)
            self._bars.start()
        line = self.forecast(stages, now)
        if line is not None:
            self._bars.console.print(line, highlight=False, markup=False)
        while len(self._tasks) < len(stages):
            self._tasks = (*self._tasks, self._bars.add_task("", total=None, left=""))
        for task, (stage, pace) in zip(self._tasks, stages, strict=True):
            whole = self.left(stages, now)
            left = pace.left(now) if whole is None else whole[0]
            least, of_all = ("", "") if whole is None else (whole[1], " in all")
            remaining = "" if left is None else f"{least}about {_duration(left)} left{of_all}"
            self._bars.update(task, description=stage, completed=pace.done, total=pace.total, left=remaining)
        self._bars.refresh()

    def end(self) -> None:
        """See _Shown."""
        if self._bars is not None:
            self._bars.stop()


def _progress_line(stage: str, pace: _Pace, now: float) -> str:
    """How far a stage is, and how long it still takes."""
    if pace.total is None:
        return f"{stage}: {pace.done:,} so far" if pace.done else stage
    share = f"{pace.done:,} of {pace.total:,}" if stage in OVERALL else f"{100 * pace.done // max(pace.total, 1)} %"
    left = pace.left(now)
    return f"{stage}: {share}" if left is None else f"{stage}: {share}, about {_duration(left)} left"


def _duration(seconds: float) -> str:
    """A duration that nobody knows to three digits."""
    for factor, unit in ((86_400, "days"), (3_600, "hours"), (60, "minutes")):
        if seconds >= 2 * factor:
            return f"{seconds / factor:.{0 if seconds >= 10 * factor else 1}f} {unit}"
    return f"{max(round(seconds), 1)} s"


@contextlib.contextmanager
def _no_interrupts() -> Iterator[None]:
    """Threads started here leave signals of Ctrl-C to the others."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
