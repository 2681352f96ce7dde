"""Programs on machines, with all times side by side."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from simtmm.analysis import compare as comparing
from simtmm.analysis.comparison import Comparison
from simtmm.api.opening import opened_machine
from simtmm.engine import DEFAULT
from simtmm.errors import StudyError, shown
from simtmm.machine import Machine
from simtmm.measurement.timings import load_timings
from simtmm.sampling import DEFAULT_ERROR, check_sample
from simtmm.study.design.by_sample import BySample
from simtmm.watch import Watch


def compare(
    sources: str | Path | Iterable[str | Path],
    machines: Machine | str | Path | Iterable[Machine | str | Path] = (),
    parameters: Mapping[str, Sequence[object]] | None = None,
    models: str | Iterable[str] = (),
    *,
    measured: str | Path | Iterable[str | Path] = (),
    reference: str | None = None,
    engine: str = DEFAULT,
    store: str | Path | None = ":memory:",
    workers: int | None = 1,
    watch: Watch | None = None,
    rules: str | Path | Iterable[str | Path] = (),
    sample: str | None = None,
    error: float = DEFAULT_ERROR,
) -> Comparison:
    """Simulated, modelled and measured times side by side; `simtmm sweep compare` as a function.

    sources: kernels by name or folder, and traces (.parquet) by path; with none, what was measured is run.
    machines: Machines, names, or paths to their files (.toml); those of the measured times if left out.
    parameters: values by name; every combination is run, and a kernel takes those that it has.
    models: their names; all if left out.
    measured: files of measured times (.csv, .json); docs/compare.md says how they look.
    reference: what the others are set against: "simulated", "measured" or a model; "measured" if there are such times.
    engine: "fast" (compiled) or "reference" (SimPy).
    store: an SQLite file that keeps each case as it is done, and in which what is done is not run again; with None one
        for each program in the user's cache folder. Kept in memory if left out.
    workers: processes on this machine; one for each core with None. They do not read the script that calls this.
    watch: called with (stage, done, total where it is known) as things go on.
    rules: built-in scheduling rules by name, and Python files with rules of your own (docs/schedulers.md), which are
        run: each machine runs everything by each of them too, beside its own.
    sample: "auto" simulates some blocks of each case and extrapolates, where that is worth it (docs/sampling.md).
    error: half of the interval requested then, as a part of the time.

    A case that fails, or that a machine can't hold, stands in `.absent` with the reason, and the others go on.
    `.rows()` is a table.

    Raises StudyError where nothing is left to compare, and the errors of what comes before the cases.
    """
    if not isinstance(sources, (str, Path)) and not isinstance(sources, Iterable):
        raise StudyError(
            f"sources = {shown(sources)}: must be names or folders of kernels, or paths to traces (.parquet)"
        )
    programs = [str(source) for source in ([sources] if isinstance(sources, (str, Path)) else sources)]
    given = [machines] if isinstance(machines, (Machine, str, Path)) else machines
    if not isinstance(given, Iterable):
        raise StudyError(f"machines = {shown(given)}: must be Machines, names, or paths to their files (.toml)")
    named: dict[str, Machine] = {}
    for machine in given:
        opened = opened_machine(machine)
        name = opened.name if isinstance(machine, Machine) else Path(machine).name.removesuffix(".toml")
        if name in named:
            raise StudyError(f"machines: {name!r}: is given more than once")
        named[name] = opened
    files = [measured] if isinstance(measured, (str, Path)) else measured
    times = [time for path in files for time in load_timings(path)]
    by: str | BySample = engine
    if sample is not None:
        check_sample(sample, error, engine)
        by = BySample(error)
    return comparing.compare(
        programs,
        named,
        parameters,
        [models] if isinstance(models, str) else models,
        times,
        reference,
        engine=by,
        watch=watch,
        store=store,
        workers=workers,
        rules=[rules] if isinstance(rules, (str, Path)) else list(rules),
    )
