"""Programs on machines, with all times compared."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from simtmm.analysis.comparison import compare as comparing
from simtmm.analysis.comparison.comparison import Comparison
from simtmm.api.opening import opened_machine
from simtmm.engine import DEFAULT
from simtmm.errors import StudyError, shown
from simtmm.machine import Machine
from simtmm.measurement.timings import load_timings
from simtmm.sampling import DEFAULT_ERROR, check_sample
from simtmm.study.design.by_sample import BySample
from simtmm.watch import Watch


def compare(  # noqa: PLR0913 - each is an option of the verb
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
    """Compare simulated, modelled and measured times; `simtmm sweep compare` as a function.

    sources: kernels by name or folder, and traces (.parquet) by path; if empty, the measured kernels.
    machines: Machines, names, or paths to their files (.toml); those of the measured times if left out.
    parameters: lists of values by name; every combination is run, and a kernel uses the parameters that it has.
    models: the models' names; all if left out.
    measured: files of measured times (.csv, .json), as described in docs/compare.md.
    reference: the series to compare with: "simulated", "measured" or a model; if left out, "measured" if there are such
        times.
    engine: "fast" (compiled) or "reference" (SimPy).
    store: an SQLite file that stores finished cases, which are not run again; None for one per program in the user's
        cache folder. In memory if left out.
    workers: number of processes on this machine; None for one per core. They do not import the calling script.
    watch: called with (stage, done, total if known) as the work proceeds.
    rules: built-in scheduling rules by name, and Python files with your own rules (docs/schedulers.md). Each machine
        runs everything with each of these rules in addition to its own. The files are executed.
    sample: "auto" simulates some blocks of each case and extrapolates, if that saves time (docs/sampling.md).
    error: half of the requested interval, as a fraction of the time.

    A case that fails, or that does not fit a machine, is in `.absent` with the reason; the others continue.
    `.rows()` is a table.

    Raises StudyError if there is nothing to compare, and the errors of opening kernels, machines and files.
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
