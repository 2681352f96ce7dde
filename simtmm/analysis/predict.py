"""What the models say, without a simulation: of a kernel's or trace's counts, or of a paper's algorithm."""

import dataclasses
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simtmm.analysis.followed import followed
from simtmm.catalogue import current_name, known_kernels
from simtmm.errors import ModelError, nearest
from simtmm.files import is_there
from simtmm.kernel import Kernel
from simtmm.machine import Machine
from simtmm.model import MODELS, formula, predict
from simtmm.model.algorithms import ALGORITHMS, find
from simtmm.model.algorithms.regimes import Regime, regimes
from simtmm.model.algorithms.speedup import Speedup, speedup_of
from simtmm.model.algorithms.symbol_ranges import (
    VARIED,
    check_given,
    check_symbols,
    domain,
    machine_letters,
    range_of,
    timed,
)
from simtmm.model.algorithms.times import predict_algorithm
from simtmm.model.calibrated import CALIBRATED, calibrated
from simtmm.model.departure import MeasuredDeparture, measured_departure
from simtmm.model.latency_hiding import Hiding, hiding_of_trace
from simtmm.model.launch.occupancy import ForcedBlocks, force_active_blocks
from simtmm.program import Kind, kind_of, open_program
from simtmm.provenance import provenance
from simtmm.recorder.sources import opened_kernel
from simtmm.result import Prediction
from simtmm.sampling import DEFAULT_ERROR, Found, Sampled, check_sample, sampled_kernel, sampled_program
from simtmm.trace.counts import count
from simtmm.trace.io import Trace
from simtmm.trace.schema import Sampling

TRACED: tuple[Kind, ...] = ("kernel", "trace")
UNITS = ("cycles", "s")  # of a1 and a0


@dataclass(frozen=True)
class Predicted:
    """What models say of one program on one machine.

    predictions: by model. closed_form: the same of the paper's algorithm that the kernel follows, `algorithm`, from its
    symbols; empty where these are outside its domain, `no_closed_form` says how. regimes: what binds along a symbol, by
    the TMM. formulas: LaTeX by model, generated when called. sampling: which blocks the trace holds, if not all.
    warnings: what the trace does not hold, in words. hiding:
    the threads a core that hide the latency. speedup: of an algorithm. departed: how far predictions are from a
    measured time.
    forced: active blocks, where they are. sampled: of what the counts are extrapolated, and in what interval they lie.
    """

    program: str
    parameters: Mapping[str, Any]
    machine: Machine
    predictions: Mapping[str, Prediction]
    algorithm: str | None = None
    closed_form: Mapping[str, Prediction] = field(default_factory=dict)
    no_closed_form: str | None = None
    regimes: Mapping[str, list[Regime]] = field(default_factory=dict)
    formulas: Callable[[], dict[str, str]] = field(default=dict, compare=False)
    sampling: Sampling | None = None
    warnings: tuple[str, ...] = ()
    hiding: Hiding | None = None
    speedup: Speedup | None = None
    departed: MeasuredDeparture | None = None
    forced: ForcedBlocks | None = None
    sampled: Sampled | None = None

    def beside(self, seconds: float, factor: float) -> "Predicted":
        """With a measured time. Raises ModelError as `simtmm.model.departure.measured_departure` does."""
        closed = {f"{model}, closed form": prediction for model, prediction in self.closed_form.items()}
        return dataclasses.replace(self, departed=measured_departure({**self.predictions, **closed}, seconds, factor))

    def to_dict(self) -> dict[str, Any]:
        """All of it, as one JSON document."""
        return {
            "program": self.program,
            "parameters": dict(self.parameters),
            "sampling": self.sampling.to_dict() if self.sampling else None,
            "sampled": self.sampled.to_dict() if self.sampled else None,
            "warnings": list(self.warnings),
            "machine": {"name": self.machine.name, "processors": self.machine.processors, **self.machine.to_dict()},
            "predictions": {name: prediction.to_dict() for name, prediction in self.predictions.items()},
            "algorithm": self.algorithm,
            "closed_form": {name: prediction.to_dict() for name, prediction in self.closed_form.items()},
            "no_closed_form": self.no_closed_form,
            "hiding": {**dataclasses.asdict(self.hiding), "limit": self.hiding.limit} if self.hiding else None,
            "speedup": self.speedup.to_dict() if self.speedup else None,
            "forced": self.forced.to_dict() if self.forced else None,
            "measured": self.departed.to_dict() if self.departed else None,
            "regimes": {
                over: [
                    {
                        "bound": regime.bound,
                        "start": regime.start,
                        "stop": regime.stop,
                        "begins": None if regime.begins is None else str(regime.begins),
                    }
                    for regime in found
                ]
                for over, found in self.regimes.items()
            },
            "provenance": {**provenance(), "machine": self.machine.digest()},
        }


def is_algorithm(name: str) -> bool:
    """Whether that is an algorithm of the papers. Raises ModelError for what is neither that nor a program."""
    if name in ALGORITHMS:
        return True
    kernels = known_kernels()
    if current_name(name) not in kernels and not is_there(name) and kind_of(name) != "trace":
        known = sorted({*ALGORITHMS, *kernels})
        what = "neither an algorithm, nor a kernel (see `simtmm kernels`), nor a trace (.parquet)"
        raise ModelError(f"{name!r}: {what}{nearest(name, known, ALGORITHMS)}")
    return False


def predict_program(
    source: str | Path,
    machine: Machine,
    parameters: Mapping[str, object] | None = None,
    models: Collection[str] = (),
    constants: Mapping[str, float] | None = None,
    unit: str = "cycles",
    progress: Callable[[int], None] | None = None,
    active_blocks: int | None = None,
    form: str | None = None,
    sample: str | None = None,
    error: float = DEFAULT_ERROR,
) -> Predicted:
    """What the models say of a trace (.parquet) or of a kernel, which is recorded first.

    models: names in MODELS, or "calibrated"; all of them if left out. constants: a1 and a0 of the calibrated model, in
    `unit` (cycles or s), m, C_s and G of its cache, and f_app; with them it is among the models. active_blocks: of a
    core group at most, where they are forced (simtmm.model.launch.occupancy). form: "written", "compiled" or "ptx", how
    a kernel is recorded (see simtmm.record). sample: "auto" counts some of its blocks, as `run` simulates them until
    the time is known to within `error`, and extrapolates. Raises the errors of the steps (simtmm.errors), for names
    before anything is recorded.
    """
    chosen = [model for model in models if model != CALIBRATED.name] if models else list(MODELS)
    for model in chosen:
        formula(model)
    if constants or CALIBRATED.name in models:
        _check_constants(constants or {}, unit)
    found = None
    if sample is not None:
        if active_blocks is not None:
            raise ModelError("--active-blocks: is of all blocks: leave out --sample")
        found = _sampled(source, machine, parameters, progress, form, sample, error)
    program = found.program if found else open_program(source, parameters, progress, TRACED, machine, form)
    claimed, sampled = None, found.sampled if found else None
    notes = () if found is None else sampled.notes if sampled else (found.why,)
    if sampled is not None:
        trace, counts = Trace(sampled.info, ()), sampled.counts
    else:
        assert program.trace is not None
        trace = program.trace
        if active_blocks is not None:
            machine, claimed = force_active_blocks(machine, trace, active_blocks)
        counts = count(trace, machine)
    predictions = {model: predict(model, machine, counts) for model in chosen}
    if constants:
        predictions[CALIBRATED.name] = calibrated(machine, counts, **constants, unit=unit)  # type: ignore[arg-type]
    algorithm, closed_form, no_closed_form = _closed_form(trace, program.kernel, machine)
    return Predicted(
        program=trace.info.kernel,
        parameters=trace.info.parameters,
        machine=machine,
        predictions=predictions,
        algorithm=algorithm,
        closed_form=closed_form,
        no_closed_form=no_closed_form,
        formulas=lambda: {model: formula(model).latex for model in predictions},
        sampling=trace.info.sampling,
        warnings=(*notes, *program.notes, *trace.info.warnings_on(machine.cores.warp_width)),
        hiding=hiding_of_trace(trace, machine, counts),
        forced=claimed,
        sampled=sampled,
    )


def _sampled(
    source: str | Path,
    machine: Machine,
    parameters: Mapping[str, object] | None,
    progress: Callable[[int], None] | None,
    form: str | None,
    sample: str,
    error: float,
) -> Found:
    """A sample of a kernel, or of a trace."""
    check_sample(sample, error, "fast")
    if kind_of(source) == "kernel":
        return sampled_kernel(opened_kernel(source), parameters, machine, form, error)
    return sampled_program(open_program(source, parameters, progress, TRACED, machine, form), machine, error)


def _check_constants(constants: Mapping[str, float], unit: str) -> None:
    if unit not in UNITS:
        raise ModelError(f"{CALIBRATED.name}: unit = {unit!r}: must be {' or '.join(UNITS)}")
    for name in constants:
        if name not in CALIBRATED.constants:
            raise ModelError(f"{CALIBRATED.name}: {name}: unknown; the constants are {', '.join(CALIBRATED.constants)}")
    for name in ("a1", "a0"):
        if name not in constants:
            raise ModelError(f"{CALIBRATED.name}: {name}: must be given; it is fitted to measured times")


def predict_paper(
    name: str,
    machine: Machine,
    parameters: Mapping[str, float],
    threads_per_core: float | None = None,
    variant: str | None = None,
) -> Predicted:
    """What PRAM and TMM say of a paper's algorithm, from its symbols; and what binds along its size, L and T.

    Along a size and L, a core has as many threads as the algorithm feeds and the machine holds; where threads_per_core
    is given, that many. Raises ModelError, the symbol named.
    """
    algorithm = find(name)
    given = set(parameters)
    check_symbols(name, algorithm.symbols, parameters)
    values = {**machine_letters(machine), **parameters}
    check_given(name, algorithm.counts(variant, given).symbols, values, machine)
    predictions = predict_algorithm(algorithm, machine, parameters, threads_per_core, variant)
    values["T"] = predictions["tmm"].symbols["T"]
    speedup = speedup_of(algorithm, machine, predictions["tmm"], variant, given)
    along = {}
    for over in VARIED:
        shown = timed(algorithm, variant, given, over == "T" or threads_per_core is not None)
        needed = {symbol.name for symbol in shown.symbols}
        if over in needed:
            own = {key: value for key, value in values.items() if key in needed and key != over}
            try:
                low, high = domain((shown,), own, over, *range_of(algorithm.symbols, over, values, machine))
            except ModelError:  # nowhere, as along m where n leaves a graph no edge
                continue
            along[over] = regimes(shown, own, over, low, high)
    return Predicted(
        program=algorithm.name,
        parameters={**parameters, **({"variant": variant} if variant else {})},
        machine=machine,
        predictions=predictions,
        regimes=along,
        formulas=lambda: {
            "pram": algorithm.pram(variant, given).latex,
            "tmm": algorithm.tmm(variant, given).latex,
            "tmm, refined": timed(algorithm, variant, given, False).latex,
        },
        hiding=speedup.hiding,
        speedup=speedup,
    )


def _closed_form(
    trace: Trace, kernel: Kernel | None, machine: Machine
) -> tuple[str | None, dict[str, Prediction], str | None]:
    """What the models say of the paper's algorithm that a kernel follows; or why they say nothing of it.

    kernel: what was recorded; if left out, the one that the trace names, if data can name it.
    """
    named = followed(trace.info.kernel, trace.info.parameters, kernel)
    if named is None:
        return None, {}, None
    name, symbols = named
    try:
        return name, predict_algorithm(find(name), machine, symbols), None
    except ModelError as error:  # a size outside the closed form's domain
        return name, {}, str(error)
