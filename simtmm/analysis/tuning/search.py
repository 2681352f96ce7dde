"""The search: compile all configurations, then simulate those that promise most, more and more precisely."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simtmm import cache
from simtmm.analysis.tune import DEFAULT_MODELS
from simtmm.analysis.tuning.halving import precisions, promising
from simtmm.analysis.tuning.kept import KeptTrials, content_of
from simtmm.analysis.tuning.space import configurations
from simtmm.analysis.tuning.t1 import is_problem, read_problem
from simtmm.analysis.tuning.trial import Subject, Trial, forget_kernels, refused, screened, tried
from simtmm.computer import cores
from simtmm.errors import SimtmmError, StudyError, shown
from simtmm.machine import Machine
from simtmm.machine.load import opened_machine
from simtmm.model import find_model
from simtmm.parallel.processes import Local
from simtmm.parallel.tasks import Executor, Serial, Task
from simtmm.provenance import provenance
from simtmm.sampling import AUTO, DEFAULT_ERROR, check_sample
from simtmm.study.design.axes import Value
from simtmm.watch import Watch, tell, watched

FLAT = 1.05  # times the best, within which configurations are as good
FINALISTS = 10  # that are simulated to the requested precision
KEPT_TRIALS = "tuning"  # the folder in the user's cache


@dataclass(frozen=True)
class Choice:
    """The configuration that a model finds fastest. slowdown: its simulated time over the best's."""

    model: str
    trial: Trial
    slowdown: float


@dataclass(frozen=True)
class Tuned:
    """What came of a search.

    program: the kernel's name. trials: all that were tried, in the order of the space. excluded: combinations that the
    constraints left out. error: the requested one, of the best.
    """

    program: str
    machine: Machine
    fixed: Mapping[str, Any]
    over: tuple[str, ...]
    trials: tuple[Trial, ...]
    excluded: int
    error: float

    def ranked(self) -> list[Trial]:
        """Those that ran: those simulated to the requested precision, then the others; each the fastest first."""
        done = [trial for trial in self.trials if trial.status == "done"]
        return sorted(done, key=lambda trial: (not trial.serves(self.error), trial.cycles))

    @property
    def best(self) -> Trial:
        """The fastest."""
        return self.ranked()[0]

    @property
    def rivals(self) -> int:
        """How many configurations beside the best may be as fast, as their intervals overlap."""
        return sum(trial.status == "done" and trial.low <= self.best.high for trial in self.trials) - 1

    @property
    def flat(self) -> int:
        """How many configurations, the best included, take at most FLAT times as long as it."""
        return sum(trial.status == "done" and trial.cycles <= FLAT * self.best.cycles for trial in self.trials)

    def choices(self) -> list[Choice]:
        """What each model would have chosen."""
        done = [trial for trial in self.trials if trial.status == "done"]
        found = []
        for model in self.best.predictions:
            chosen = min(done, key=lambda trial: trial.predictions[model])
            found.append(Choice(model, chosen, chosen.cycles / self.best.cycles if self.best.cycles else 1.0))
        return found

    def reasons(self) -> dict[str, int]:
        """Why configurations did not run, and how many each, the most frequent first."""
        counted: dict[str, int] = {}
        for trial in self.trials:
            if trial.reason:
                counted[trial.reason] = counted.get(trial.reason, 0) + 1
        return dict(sorted(counted.items(), key=lambda entry: -entry[1]))

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON; configurations that ran first, the fastest before the others."""
        left = [trial for trial in self.trials if trial.status != "done"]
        return {
            "program": self.program,
            "machine": self.machine.name,
            "parameters": dict(self.fixed),
            "error": self.error,
            "best": self.best.to_dict(),
            "within_5_percent": self.flat,
            "rivals": self.rivals,
            "choices": [
                {"model": each.model, "configuration": dict(each.trial.configuration), "slowdown": each.slowdown}
                for each in self.choices()
            ],
            "excluded": self.excluded,
            "configurations": [trial.to_dict() for trial in (*self.ranked(), *left)],
            "provenance": provenance(),
        }


def tune(
    kernel: str,
    machine: Machine | str | Path,
    over: Mapping[str, object] | None = None,
    parameters: Mapping[str, object] | None = None,
    where: str | Sequence[str] = (),
    error: float = DEFAULT_ERROR,
    models: Sequence[str] = (),
    form: str | None = None,
    store: str | Path | None = None,
    workers: int | None = None,
    watch: Watch | None = None,
) -> Tuned:
    """Find the fastest configuration of a kernel by simulation.

    kernel: its name or folder, a file of launches (.toml), or a problem in Kernel Tuner's T1 (.json).
    machine: a machine, its name, or its file.
    over: what is tried, a range ("1:8") or a list of values by parameter, as axes of studies have them; of a problem in
        T1 in the place of its own values.
    parameters: that are fixed.
    where: constraints that configurations must meet, such as "block_size_x * block_size_y <= 1024"; one or several.
    error: half of the interval requested for the finalists, as a part of the time.
    models: that choose as well.
    form: "written", "compiled" or "ptx", how the kernel is recorded.
    store: an SQLite file of what was simulated before; one in the user's cache folder if left out.
    workers: processes, one a core if left out; 1 runs in this process.
    watch: called with (stage, done, total).

    Raises the errors of kernels, machines and studies; what goes wrong with one configuration is its reason.
    """
    check_sample(AUTO, error, "fast")
    for name, given in (("over", over), ("parameters", parameters)):
        if given is not None and not isinstance(given, Mapping):
            raise StudyError(f"{name} = {shown(given)}: must be a dict of names and values")
    if workers is not None and workers < 1:
        raise StudyError(f"workers = {workers}: must be at least 1")
    chosen = tuple(models) or DEFAULT_MODELS
    for model in chosen:
        find_model(model)
    forget_kernels()
    subject = Subject(str(kernel), dict(parameters or {}), opened_machine(machine), form, chosen)
    loaded = subject.kernel
    wanted, conditions = dict(over or {}), (where,) if isinstance(where, str) else tuple(where)
    if is_problem(subject.source):
        problem = read_problem(subject.source)
        own = {name: values for name, values in problem.over.items() if name not in subject.fixed}
        wanted, conditions = {**own, **wanted}, (*problem.where, *conditions)
    space, excluded = configurations(loaded, subject.machine, wanted, subject.fixed, conditions)
    path = store or cache.own_folder(KEPT_TRIALS) / "trials.sqlite"
    with watched(watch), KeptTrials(path, subject, content_of(str(kernel), subject)) as kept:
        trials = _searched(subject, space, error, kept, min(workers or cores(), len(space)))
    if not any(trial.status == "done" for trial in trials):
        raise StudyError(f"kernel {loaded.name}: none of {len(trials):,} configurations can run: {trials[0].reason}")
    fixed = {name: value for name, value in loaded.resolve(subject.fixed).items() if name not in wanted}
    return Tuned(loaded.name, subject.machine, fixed, tuple(wanted), tuple(trials), excluded, error)


def _searched(
    subject: Subject, space: Sequence[dict[str, Value]], error: float, kept: KeptTrials, workers: int
) -> list[Trial]:
    """A trial of each configuration, in order."""
    executor: Executor = Serial() if workers == 1 else Local(workers)
    trials = {number: found for number, each in enumerate(space) if (found := kept.find(each)) is not None}
    left = list(trials)  # those that may still be the fastest
    unknown = {number: (subject, each) for number, each in enumerate(space) if number not in trials}
    for number, outcome in _outcomes(executor, "compiling", screened, unknown):
        if outcome is None:
            left.append(number)
        else:
            trials[number] = _trial(space[number], outcome)
    for precision in precisions(error):
        todo = {
            number: (subject, space[number], precision)
            for number in sorted(left)
            if number not in trials or not trials[number].serves(precision)
        }
        for number, outcome in _outcomes(executor, "configurations", tried, todo):
            trials[number] = _trial(space[number], outcome)
            kept.keep(trials[number])
        places = {id(trials[number]): number for number in left}
        left = [places[id(trial)] for trial in promising([trials[number] for number in left], FINALISTS)]
    return [trials[number] for number in range(len(space))]


def _trial(configuration: Mapping[str, Value], outcome: Trial | SimtmmError) -> Trial:
    """What an executor gives: the trial, or what its process ended in."""
    return outcome if isinstance(outcome, Trial) else refused(configuration, outcome)


def _outcomes(
    executor: Executor, stage: str, function: Callable[..., Any], arguments: Mapping[int, tuple[Any, ...]]
) -> Iterator[tuple[int, Any]]:
    """What a function gives for each of the arguments, or the error that it ends in, as it is done."""
    if not arguments:
        return
    tasks = {Task(function, given, wanted=True): number for number, given in arguments.items()}
    tell(stage, 0, len(tasks))
    for done, (task, outcome) in enumerate(executor.run(list(tasks)), 1):
        tell(stage, done, len(tasks))
        yield tasks[task], outcome
