"""`simtmm.sweep`: the words of `simtmm sweep` as arguments, or a study's tables."""

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


def sweep(
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

    study: a study file (.toml), its tables as a dict, or a design; or what is run: a kernel, a trace (.parquet) or an
        algorithm of the papers, or several, and then the other arguments say what is varied.
    store: an SQLite file, created if absent; finished points in it are not run again. Kept in memory if left out.
    workers: processes on this machine, one for each core if left out; 1 runs in this process.
    cluster: the address of a Dask scheduler (tcp://HOST:PORT), or local:N for N workers here.
    watch: called with (stage, done, to do) as things go on.
    rules: Python files with scheduling rules, named as values of `scheduling.scheduler`.
    machine: a machine's name or file, or several, which are an axis then.
    parameters: of the program, those that are fixed.
    set: the machine's keys with new values.
    vary: axes by name: "200:1600:log:7", "1,2,4" or a list of values.
    link: axes that go together, value by value.
    draw: sampled axes, as {"memory.latency": "200:1600:log"}.
    samples: how many points are drawn; 100 if left out.
    method: "latin-hypercube", as if left out, or "random".
    seed: of the draws; 0 if left out.
    where: conditions that points must meet, as "threads <= 512".
    compute: "simulated" or models; repeatable.
    kind: what the program is: "kernel", "trace" or "algorithm".
    engine: "fast" or "reference".
    measured: files of measured times (.csv, .json).
    sample: "auto" simulates some blocks of each point and extrapolates (docs/sampling.md).
    error: half of the interval requested then, as a part of the time.

    Workers do not read the script that calls this: it needs no `if __name__ == "__main__":`.

    Raises the errors of simtmm.errors; what goes wrong at a point is kept as that point's failure.
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
            raise StudyError(f"{next(iter(given))}: can't be given beside a study's tables, which hold all of it")
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
