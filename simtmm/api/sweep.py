"""`simtmm.sweep`: the options of `simtmm sweep` as arguments, or a study's tables."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simtmm.api.requested import request_of
from simtmm.errors import StudyError, shown
from simtmm.requests.sweep import SweepRequest

if TYPE_CHECKING:
    from simtmm.study.design.design import Design
    from simtmm.study.results import Results
    from simtmm.study.store.store import Store
    from simtmm.watch import Watch


def sweep(  # noqa: PLR0913 - each is an option of the verb
    study: "str | Path | Sequence[str | Path] | Mapping[str, Any] | Design",
    store: "str | Path | Store" = ":memory:",
    workers: int | None = None,
    cluster: str | None = None,
    watch: "Watch | None" = None,
    rules: Sequence[str | Path] = (),
    *,
    machine: "str | Path | Iterable[str | Path] | None" = None,
    parameters: Mapping[str, object] | None = None,
    set: Mapping[str, object] | None = None,
    vary: Mapping[str, object] | None = None,
    link: Sequence[Mapping[str, object]] | None = None,
    draw: Mapping[str, object] | None = None,
    samples: int | None = None,
    method: str | None = None,
    seed: int | None = None,
    where: str | Sequence[str] | None = None,
    compute: str | Sequence[str] | None = None,
    kind: str | None = None,
    engine: str | None = None,
    measured: str | Path | Sequence[str | Path] | None = None,
    sample: str | None = None,
    error: float | str | None = None,
) -> "Results":
    """Run a program over ranges of parameters and machine keys: `simtmm sweep` as a function.

    study: a study file (.toml), its tables as a dict, or a design; or one or several programs (kernels, traces
        (.parquet) or algorithms of the papers), with the axes in the other arguments.
    store: an SQLite file, created if absent; its finished points are not run again. In memory if left out.
    workers: processes on this machine, one for each core if left out; 1 runs in this process.
    cluster: the address of a Dask scheduler (tcp://HOST:PORT), or local:N for N workers here.
    watch: called with (stage, done, to do) as the work proceeds.
    rules: Python files with scheduling rules, named as values of `scheduling.scheduler`.
    machine: a machine's name or file, or several, which become an axis.
    parameters: the program's fixed parameters.
    set: machine keys with new values.
    vary: axes by name: "200:1600:log:7", "1,2,4" or a list of values.
    link: axes that vary together, value by value.
    draw: sampled axes, such as {"memory.latency": "200:1600:log"}.
    samples: the number of points to draw; 100 if left out.
    method: "latin-hypercube" (the default) or "random".
    seed: the seed of the draws; 0 if left out.
    where: conditions that points must meet, such as "threads <= 512".
    compute: "simulated" or a model's name, or several.
    kind: the program's kind: "kernel", "trace" or "algorithm".
    engine: "fast" or "reference".
    measured: files of measured times (.csv, .json).
    sample: "auto" simulates some blocks of each point and extrapolates (docs/sampling.md).
    error: half of the requested interval, as a fraction of the time.

    Workers do not import the calling script, so it needs no `if __name__ == "__main__":`.

    Raises the errors of simtmm.errors; an error at a point is stored as that point's failure.
    """
    from simtmm.study.sweep import sweep as run_study

    words = {
        "machine": machine, "parameters": parameters, "set": set, "vary": vary, "link": link, "draw": draw,
        "samples": samples, "method": method, "seed": seed, "where": where, "compute": compute, "kind": kind,
        "engine": engine, "measured": measured, "sample": sample, "error": error,
    }  # fmt: skip
    given = {name: value for name, value in words.items() if value is not None}
    if isinstance(study, (str, Path)):
        if Path(study).suffix == ".toml" and not given:
            return run_study(study, store, workers, cluster, watch, rules)
        sources: Sequence[Any] = [study]
    elif isinstance(study, (list, tuple)):
        sources = study
    else:
        if given:
            raise StudyError(f"{next(iter(given))}: can't be combined with a study's tables, which define everything")
        return run_study(study, store, workers, cluster, watch, rules)  # type: ignore[arg-type]
    for each in sources:
        if not isinstance(each, (str, Path)):
            raise StudyError(f"study: {shown(each)}: must be a kernel's name or folder, or a file")
    if isinstance(machine, (str, Path)):
        given["machine"] = [str(machine)]
    if isinstance(measured, (str, Path)):
        given["measured"] = [Path(measured)]
    request = request_of(SweepRequest, {"source": [str(each) for each in sources], **given})
    return run_study(request.design(), store, workers, cluster, watch, rules)
