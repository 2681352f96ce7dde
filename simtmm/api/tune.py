"""`simtmm.tune`: the options of `simtmm tune` as arguments."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simtmm.api.requested import request_of
from simtmm.errors import StudyError
from simtmm.requests.tune import TuneRequest

if TYPE_CHECKING:
    from simtmm.analysis.tuning.advice import Advice
    from simtmm.analysis.tuning.tuned import Tuned
    from simtmm.machine import Machine
    from simtmm.watch import Watch


def tune(  # noqa: PLR0913, PLR0917 - each is an option of the verb
    kernel: str | Path,
    machine: "Machine | str | Path | None" = None,
    over: Mapping[str, object] | None = None,
    parameters: Mapping[str, object] | None = None,
    where: str | Sequence[str] = (),
    error: float | str = "3%",
    models: Sequence[str] = (),
    form: str | None = None,
    store: str | Path | None = None,
    workers: int | str | None = None,
    watch: "Watch | None" = None,
    minimise: str | Sequence[str] = (),
    sampler: str | Mapping[str, object] | None = None,
    *,
    set: Mapping[str, object] | None = None,
    start: str | None = None,
    trials: int | None = None,
    seed: int | None = None,
    cluster: str | None = None,
) -> "Tuned | Advice":
    """Find a kernel's fastest configuration by simulation: `simtmm tune` as a function.

    kernel: its name or folder, a file of launches (.toml), or a problem in Kernel Tuner's T1 (.json).
    machine: a Machine, its name, or its file.
    over: what to try: a range ("1:8") or a list of values by parameter or machine key. If left out, threads of a block
        and blocks, compared with the models' choice.
    parameters: fixed parameters.
    where: conditions that configurations or their results must meet: "x * y <= 1024", "seconds <= 2e-3".
    error: half of the requested interval of the best, as a fraction of the time: 0.03 or "3%".
    models: models that also choose.
    form: how to record the kernel: "written", "compiled" or "ptx".
    store: an SQLite file of earlier simulations; one in the user's cache folder if left out.
    workers: number of processes, one for each core if left out; 1 runs in this process; or the address of a Dask
        scheduler.
    watch: called with (stage, done, total).
    minimise: an expression of parameters, machine keys and results; two for a Pareto front; the time if left out.
    sampler: Optuna's "tpe", "nsga2" or "random" to choose configurations, or a dict of name, trials and seed; all are
        tried if left out.
    set: machine keys with new values.
    start: the L2 when a launch begins: "warm", "cold" or "kept".
    trials: the number of configurations that the sampler chooses; 200 if left out.
    seed: the sampler's seed; 0 if left out.
    cluster: the address of a Dask scheduler (tcp://HOST:PORT), or local:N for N workers here.

    Raises the errors of kernels, machines and studies, and Unfinished if Ctrl-C ends it after some configurations. An
    error of one configuration is stored as its reason.
    """
    chosen: dict[str, Any] = {"sampler": sampler, "trials": trials, "seed": seed}
    if isinstance(sampler, Mapping):
        if unknown := sampler.keys() - {"name", "trials", "seed"}:
            raise StudyError(f"sampler: {min(map(str, unknown))}: must be name, trials or seed")
        if trials is not None or seed is not None:
            raise StudyError("sampler: is a dict, so trials and seed belong in it: give them once")
        chosen = {"sampler": sampler.get("name"), "trials": sampler.get("trials"), "seed": sampler.get("seed")}
    request = request_of(TuneRequest, {
        "kernel": kernel, "machine": machine, "over": over, "parameters": parameters, "where": where or None,
        "error": error, "model": list(models) or None, "form": form, "store": store,
        "workers": None if isinstance(workers, str) else workers,
        "cluster": workers if isinstance(workers, str) else cluster, "minimise": minimise or None, "set": set,
        "start": start, **chosen,
    })  # fmt: skip
    return request.shape(watch) if request.is_of_shape else request.tuned(watch)
