"""One run: a kernel, trace or workload is simulated on a machine and set beside the models' predictions."""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simtmm.analysis.verdict import verdict
from simtmm.engine import DEFAULT, simulate
from simtmm.errors import KernelError, TraceError
from simtmm.files import data_file
from simtmm.machine import Machine
from simtmm.model import predict
from simtmm.model.hiding import Hiding, hiding_of_trace
from simtmm.model.occupancy import Occupancy, occupancy
from simtmm.provenance import provenance
from simtmm.recorder import record
from simtmm.result import Prediction, Result
from simtmm.trace.counts import Counts, count
from simtmm.trace.io import Trace, load_trace
from simtmm.trace.lower import lower
from simtmm.trace.schema import Sampling
from simtmm.workload import Workload, load_workload

DEFAULT_TRACE = "list-ranking-wyllie.parquet"
DEFAULT_MODELS = ("tmm", "tmm-warps", "pram")

Watch = Callable[[str, int, int | None], None]  # stage, done, total if known


@dataclass(frozen=True)
class Run:
    """What came of a run. Without a trace (a workload was given) there is nothing to count or predict from.

    occupancies: each distinct occupancy of the launches with the number of launches that have it. sampling: which
    blocks the trace holds, if not all. warnings: what the trace does not hold, in words.
    """

    program: str
    parameters: Mapping[str, Any]
    machine: Machine
    result: Result
    counts: Counts | None
    occupancies: tuple[tuple[Occupancy, int], ...]
    predictions: Mapping[str, Prediction]
    hiding: Hiding | None
    verdict: str
    provenance: Mapping[str, Any] = field(default_factory=dict)
    sampling: Sampling | None = None
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """All of it, as one JSON document."""
        machine = self.machine
        return {
            "program": self.program,
            "parameters": dict(self.parameters),
            "sampling": self.sampling.to_dict() if self.sampling else None,
            "warnings": list(self.warnings),
            "machine": {"name": machine.name, "processors": machine.processors, **machine.to_dict()},
            "counts": self.counts.to_dict() if self.counts else None,
            "occupancy": [{"launches": launches, **entry.to_dict()} for entry, launches in self.occupancies],
            "simulated": self.result.to_dict(),
            "predictions": {name: prediction.to_dict() for name, prediction in self.predictions.items()},
            "hiding": {**dataclasses.asdict(self.hiding), "limit": self.hiding.limit} if self.hiding else None,
            "verdict": self.verdict,
            "provenance": dict(self.provenance),
        }


def run(
    source: str | Path | None,
    machine: Machine,
    parameters: Mapping[str, object] | None = None,
    engine: str = DEFAULT,
    watch: Watch | None = None,
    timeline: bool = False,
) -> Run:
    """Run `source` on a machine and predict its time.

    source: a trace (.parquet), a workload (.json), or a kernel's name or folder, which is recorded first with
    `parameters`; None for the trace that ships with simtmm. watch: called as things go on.
    timeline: whether the result brings its timeline.

    Raises the errors of the steps it goes through (simtmm.errors).
    """
    suffix = Path(source).suffix if source is not None else ".parquet"
    if suffix in (".parquet", ".json") and parameters:
        raise KernelError(
            f"{source or DEFAULT_TRACE}: parameters ({', '.join(parameters)}) can only be given to a kernel"
        )
    if suffix == ".json":
        assert source is not None
        return _run_workload(load_workload(source), machine, engine, watch, timeline)
    if suffix == ".parquet":
        trace = load_trace(source) if source is not None else load_trace(shipped_trace(DEFAULT_TRACE))
    else:
        assert source is not None
        trace = record(source, parameters, progress=_stage(watch, "recording"))
    return run_trace(trace, machine, engine, watch, timeline)


def shipped_trace(name: str) -> Path:
    """The path of a trace in traces/. Raises TraceError."""
    path = data_file("traces", name)
    if path is None:
        raise TraceError(f"{name}: did not come with this simtmm: install it again")
    return path


def run_trace(
    trace: Trace, machine: Machine, engine: str = DEFAULT, watch: Watch | None = None, timeline: bool = False
) -> Run:
    """Run a trace that is there."""
    info = trace.info
    workload = lower(trace, machine, _stages(watch, "lowering"))
    result = simulate(machine, workload, engine, timeline=timeline, progress=_stages(watch, "simulating"))
    counts = count(trace, machine, workload)
    predictions = {model: predict(model, machine, counts) for model in DEFAULT_MODELS}
    per_launch = [occupancy(machine, launch) for launch in info.launches]
    distinct = [entry for number, entry in enumerate(per_launch) if entry not in per_launch[:number]]
    hidden = hiding_of_trace(trace, machine, counts)
    return Run(
        program=info.kernel,
        parameters=info.parameters,
        machine=machine,
        result=result,
        counts=counts,
        occupancies=tuple((entry, per_launch.count(entry)) for entry in distinct),
        predictions=predictions,
        hiding=hidden,
        verdict=verdict(machine, result, predictions["tmm"], predictions["tmm-warps"], hidden, counts),
        provenance={
            **_provenance(machine, engine, workload),
            "trace": info.digest,
            "recording": info.provenance,
        },
        sampling=info.sampling,
        warnings=tuple(info.warnings),
    )


def _run_workload(workload: Workload, machine: Machine, engine: str, watch: Watch | None, timeline: bool) -> Run:
    result = simulate(machine, workload, engine, timeline=timeline, progress=_stages(watch, "simulating"))
    return Run(
        program=workload.origin,
        parameters={},
        machine=machine,
        result=result,
        counts=None,
        occupancies=(),
        predictions={},
        hiding=None,
        verdict=verdict(machine, result),
        provenance=_provenance(machine, engine, workload),
    )


def _provenance(machine: Machine, engine: str, workload: Workload) -> dict[str, Any]:
    return {
        **provenance(),
        "engine": engine,
        "machine": machine.digest(),
        "workload": workload.digest(),
    }


def _stage(watch: Watch | None, name: str) -> Callable[[int], None] | None:
    return None if watch is None else lambda done: watch(name, done, None)


def _stages(watch: Watch | None, name: str) -> Callable[[int, int], None] | None:
    return None if watch is None else lambda done, total: watch(name, done, total)
