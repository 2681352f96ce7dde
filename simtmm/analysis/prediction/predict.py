"""Predictions of the models without a simulation, from a kernel's or trace's counts or for a paper's algorithm."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from simtmm.analysis.prediction.followed import followed
from simtmm.analysis.prediction.predictions import Predictions
from simtmm.catalogue import current_name, known_kernels
from simtmm.errors import ModelError, nearest
from simtmm.files import is_there
from simtmm.kernel import Kernel
from simtmm.machine import Machine
from simtmm.model import MODELS, formula, predict
from simtmm.model.algorithms import ALGORITHMS, find
from simtmm.model.algorithms.regimes import regimes
from simtmm.model.algorithms.speedup import speedup_of
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
from simtmm.model.latency_hiding import hiding_of_trace
from simtmm.model.launch.occupancy import force_active_blocks
from simtmm.program import Kind, Source, kind_of, open_program
from simtmm.recorder.sources import opened_kernel
from simtmm.result import Prediction
from simtmm.sampling import DEFAULT_ERROR, check_sample
from simtmm.sampling.sampled import Found, sampled_kernel, sampled_program
from simtmm.trace.counts import count
from simtmm.trace.io import Trace

TRACED: tuple[Kind, ...] = ("kernel", "trace")
UNITS = ("cycles", "s")  # of a1 and a0


def is_algorithm(name: Source) -> bool:
    """Whether that is an algorithm of the papers.

    name: a word of a command line, a path or a program.

    Raises ModelError for a name of neither that nor a program.
    """
    if not isinstance(name, str):
        return False
    if name in ALGORITHMS:
        return True
    kernels = known_kernels()
    if current_name(name) not in kernels and not is_there(name) and kind_of(name) != "trace":
        known = sorted({*ALGORITHMS, *kernels})
        what = "not an algorithm, a kernel (see `simtmm kernels`) or a trace (.parquet)"
        raise ModelError(f"{name!r}: {what}{nearest(name, known, ALGORITHMS)}")
    return False


def refuse_foreign(of_paper: bool, given: Sequence[str]) -> None:
    """Raise ModelError for the first choice that is given and is not for such a source.

    of_paper: whether that is an algorithm. given: the names of what is given and is for the other kind alone.
    """
    if given:
        kinds = "a kernel or trace, not for an algorithm" if of_paper else "an algorithm, not for a kernel or trace"
        raise ModelError(f"{given[0]}: is for {kinds}")


def predict_program(  # noqa: PLR0913, PLR0917 - each is an option of a prediction
    source: Source,
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
) -> Predictions:
    """What the models say of a trace (.parquet) or of a kernel, which is recorded first.

    models: names in MODELS, or "calibrated"; all of them if left out. constants: a1 and a0 of the calibrated model, in
    `unit` (cycles or s), m, C_s and G of its cache, and f_app; with them it is among the models. active_blocks: of a
    core group at most, where they are forced (simtmm.model.launch.occupancy). form: "written", "compiled" or "ptx", how
    a kernel is recorded (see simtmm.record). sample: "auto" counts some of its blocks, as `run` simulates them until
    the time is known to within `error`, and extrapolates. Raises the errors of the steps (simtmm.errors), for names
    before anything is recorded.
    parameters: values of some of the kernel's parameters, as texts or numbers.
    progress: told how many events there are so far.
    """
    chosen = [model for model in models if model != CALIBRATED.name] if models else list(MODELS)
    for model in chosen:
        formula(model)
    if constants or CALIBRATED.name in models:
        _check_constants(constants or {}, unit)
    found = None
    if sample is not None:
        if active_blocks is not None:
            raise ModelError("--active-blocks: needs all blocks: leave out --sample")
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
    return Predictions(
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
    source: Source,
    machine: Machine,
    parameters: Mapping[str, object] | None,
    progress: Callable[[int], None] | None,
    form: str | None,
    sample: str,
    error: float,
) -> Found:
    """A sample of a kernel, or of a trace."""
    check_sample(sample, error, "fast")
    kernel = opened_kernel(source) if isinstance(source, (str, Path)) and kind_of(source) == "kernel" else source
    if isinstance(kernel, Kernel):
        return sampled_kernel(kernel, parameters, machine, form, error)
    return sampled_program(open_program(source, parameters, progress, TRACED, machine, form), machine, error)


def _check_constants(constants: Mapping[str, float], unit: str) -> None:
    if unit not in UNITS:
        raise ModelError(f"{CALIBRATED.name}: unit = {unit!r}: must be {' or '.join(UNITS)}")
    for name in constants:
        if name not in CALIBRATED.constants:
            raise ModelError(f"{CALIBRATED.name}: {name}: unknown; the constants are {', '.join(CALIBRATED.constants)}")
    for name in ("a1", "a0"):
        if name not in constants:
            raise ModelError(f"{CALIBRATED.name}: {name}: must be given (fit it to measured times)")


def predict_paper(
    name: str,
    machine: Machine,
    parameters: Mapping[str, float],
    threads_per_core: float | None = None,
    variant: str | None = None,
) -> Predictions:
    """What PRAM and TMM say of a paper's algorithm, from its symbols; and what binds along its size, L and T.

    Along a size and L, a core has as many threads as the algorithm feeds and the machine holds; where threads_per_core
    is given, that many. Raises ModelError, the symbol named.

    name: of the algorithm.
    parameters: values of its symbols by name.
    variant: the name of a variant; the first if left out.
    threads_per_core: T; what the algorithm feeds and the machine holds if left out.
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
    return Predictions(
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
