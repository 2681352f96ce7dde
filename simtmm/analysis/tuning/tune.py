"""Tune: the best configuration of a kernel, or of a machine for it, by simulation."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from simtmm import cache
from simtmm.analysis.tuning.goals import Goals, is_of_results
from simtmm.analysis.tuning.kept import KeptTrials, content_of
from simtmm.analysis.tuning.sampler import Sampler, sampler_choice
from simtmm.analysis.tuning.search import Search
from simtmm.analysis.tuning.space import Space
from simtmm.analysis.tuning.t1 import is_problem, read_problem
from simtmm.analysis.tuning.trial import Subject, forget_kernels
from simtmm.analysis.tuning.tuned import Tuned
from simtmm.analysis.unfinished import Unfinished
from simtmm.computer import cores
from simtmm.errors import StudyError, shown
from simtmm.machine import Machine
from simtmm.machine.load import opened_machine
from simtmm.model import find_model
from simtmm.parallel.processes import Local
from simtmm.parallel.tasks import Executor, Serial
from simtmm.sampling import AUTO, DEFAULT_ERROR, check_sample
from simtmm.watch import Watch, tell, watched

DEFAULT_MODELS = ("integrated", "tmm", "tmm-warps")  # the models that choose as well
KEPT_TRIALS = "tuning"  # the folder in the user's cache


def tune(  # noqa: PLR0913, PLR0917 - each is an option of the search
    kernel: str,
    machine: Machine | str | Path,
    over: Mapping[str, object] | None = None,
    parameters: Mapping[str, object] | None = None,
    where: str | Sequence[str] = (),
    error: float = DEFAULT_ERROR,
    models: Sequence[str] = (),
    form: str | None = None,
    store: str | Path | None = None,
    workers: int | str | None = None,
    watch: Watch | None = None,
    minimise: str | Sequence[str] = (),
    sampler: str | Mapping[str, object] | None = None,
) -> Tuned:
    """Find the best configuration of a kernel, or of a machine for it, by simulation.

    kernel: its name or folder, a file of launches (.toml), or a problem in Kernel Tuner's T1 (.json).
    machine: a machine, its name, or its file.
    over: what is tried, a range ("1:8") or a list of values by parameter or by the machine's key, as axes of studies
        have them; of a problem in T1 instead of its own values.
    parameters: that are fixed.
    where: conditions that configurations must meet, such as "block_size_x * block_size_y <= 1024", or that what they
        give must meet, such as "seconds <= 2e-3"; one or several.
    error: half of the interval requested for the finalists, as a part of the time.
    models: that choose as well.
    form: how to record the kernel: "written", "compiled" or "ptx".
    store: an SQLite file of what was simulated before; one in the user's cache folder if left out.
    workers: processes, one a core if left out; 1 runs in this process; or the address of a Dask scheduler
        (tcp://HOST:PORT), or local:N for N workers here.
    watch: called with (stage, done, total).
    minimise: what is minimised, an expression of parameters, machine keys and what a configuration gives; two for a
        Pareto front; the time if left out.
    sampler: "tpe", "nsga2" or "random" has Optuna choose configurations; or a dict of name, trials (how many, 200 if
        left out) and seed (0 if left out); all are tried if left out.

    Raises the errors of kernels, machines and studies; what goes wrong with one configuration is its reason; and
    Unfinished where Ctrl-C ends it after some of them.
    """
    check_sample(AUTO, error, "fast")
    for name, given in (("over", over), ("parameters", parameters)):
        if given is not None and not isinstance(given, Mapping):
            raise StudyError(f"{name} = {shown(given)}: must be a dict of names and values")
    chosen = tuple(models) or DEFAULT_MODELS
    for model in chosen:
        find_model(model)
    executor = _executor(workers)
    forget_kernels()
    with watched(watch):
        tell("configurations", 0)
        subject = Subject(str(kernel), dict(parameters or {}), opened_machine(machine), form, chosen)
        loaded = subject.kernel
        wanted, conditions = dict(over or {}), [where] if isinstance(where, str) else list(where)
        if is_problem(subject.source):
            problem = read_problem(subject.source)
            own = {name: values for name, values in problem.over.items() if name not in subject.fixed}
            wanted, conditions = {**own, **wanted}, [*problem.where, *conditions]
        space = Space(subject, wanted, [text for text in conditions if not is_of_results(text)])
        objectives = [minimise] if isinstance(minimise, str) else list(minimise)
        goals = Goals(subject, objectives, [text for text in conditions if is_of_results(text)])
        choice = None if sampler is None else sampler_choice(sampler)
        path = store or cache.own_folder(KEPT_TRIALS) / "trials.sqlite"
        fixed = {name: value for name, value in loaded.resolve(subject.fixed).items() if name not in wanted}
        with KeptTrials(path, subject, content_of(str(kernel), subject)) as kept:
            search = Search(subject, goals, kept, executor(space.size))

            def found() -> Tuned:
                return Tuned(
                    loaded.name, subject.machine, fixed, tuple(wanted), search.found(), search.excluded, error, goals,
                    space.size if choice else 0,
                )  # fmt: skip

            try:
                if choice is None:
                    search.of_all(space, error)
                else:
                    sampling = Sampler(space.axes, choice, len(goals.objectives))
                    search.of_some(space, error, sampling, choice.trials)
            except KeyboardInterrupt:
                part = found()
                if not part.done:
                    raise
                raise Unfinished(part, len(part.trials) - part.open, len(part.trials)) from None
    return _with_some(found())


def _with_some(tuned: Tuned) -> Tuned:
    """Refuse a search in which nothing ran, or nothing meets the conditions."""
    if tuned.done:
        return tuned
    number = f"{len(tuned.trials):,} configurations"
    if not tuned.unmet:
        raise StudyError(f"kernel {tuned.program}: none of the {number} can run: {tuned.trials[0].reason}")
    conditions = " and ".join(repr(condition.text) for condition in tuned.goals.conditions)
    cycles = min(trial.cycles for trial in tuned.trials if trial.status == "done")
    raise StudyError(f"--where {conditions}: none of the {number} meets it; the fastest takes {cycles:,.6g} cycles")


def _executor(workers: int | str | None) -> Callable[[int], Executor]:
    """What runs so many tasks. Raises StudyError."""
    if isinstance(workers, str):
        from simtmm.parallel.dask import Cluster  # Dask is an extra

        cluster = Cluster(workers)
        return lambda tasks: cluster
    if workers is not None and workers < 1:
        raise StudyError(f"workers = {workers}: must be at least 1")

    def here(tasks: int) -> Executor:
        number = min(workers or cores(), tasks)
        return Serial() if number == 1 else Local(number)

    return here
