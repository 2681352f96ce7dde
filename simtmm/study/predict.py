"""What the models say, without a simulation: of a kernel's or trace's counts, or of a paper's algorithm."""

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simtmm.errors import KernelError, ModelError, nearest
from simtmm.kernel import kernel_folders, load_kernel
from simtmm.machine import Machine
from simtmm.model import MODELS, formula, predict
from simtmm.model.algorithm import Algorithm, letters_of, predict_algorithm
from simtmm.model.algorithms import ALGORITHMS, find
from simtmm.model.calibrated import FACTORS, calibrated
from simtmm.model.formula import Formula
from simtmm.model.regimes import Crossover, Regime, crossover, regimes
from simtmm.model.scheduling import Zigzag, zigzag
from simtmm.provenance import provenance
from simtmm.record import record
from simtmm.result import Prediction
from simtmm.trace.counts import count
from simtmm.trace.io import Trace, load_trace

VARIED = ("n", "N", "m", "L", "T")  # along what two algorithms are compared, and regimes told
LARGEST = 1e12  # of a problem's size
CONSTANTS = ("a1", "a0", "m", "C_s", "G", "f_app")


@dataclass(frozen=True)
class Predicted:
    """What models say of one program on one machine.

    predictions: by model. closed_form: the same of the paper's algorithm that the kernel follows, `algorithm`, from its
    symbols. formulas: LaTeX by model, made when asked for.
    """

    program: str
    parameters: Mapping[str, Any]
    machine: Machine
    predictions: Mapping[str, Prediction]
    algorithm: str | None = None
    closed_form: Mapping[str, Prediction] = field(default_factory=dict)
    regimes: Mapping[str, list[Regime]] = field(default_factory=dict)
    formulas: Callable[[], dict[str, str]] = field(default=dict, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """All of it, as one JSON document."""
        return {
            "program": self.program,
            "parameters": dict(self.parameters),
            "machine": {"name": self.machine.name, "processors": self.machine.processors, **self.machine.to_dict()},
            "predictions": {name: made.to_dict() for name, made in self.predictions.items()},
            "algorithm": self.algorithm,
            "closed_form": {name: made.to_dict() for name, made in self.closed_form.items()},
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
    kernels = kernel_folders()
    if name not in kernels and not Path(name).exists() and Path(name).suffix != ".parquet":
        known = sorted({*ALGORITHMS, *kernels})
        raise ModelError(f"{name!r}: neither an algorithm, nor a kernel, nor a trace{nearest(name, known)}")
    return False


def predict_program(
    source: str | Path,
    machine: Machine,
    parameters: Mapping[str, object] | None = None,
    models: Iterable[str] = (),
    constants: Mapping[str, float] | None = None,
    unit: str = "cycles",
    progress: Callable[[int], None] | None = None,
) -> Predicted:
    """What the models say of a trace (.parquet) or of a kernel, which is recorded first.

    models: names in MODELS, all of them if left out. constants: a1 and a0 of the calibrated model, in `unit` (cycles or
    s), and m, C_s and G of its cache; with them it is among the models. Raises the errors of the steps (simtmm.errors).
    """
    trace = _trace(source, parameters, progress)
    counts = count(trace, machine)
    chosen = list(models) or list(MODELS)
    predictions = {model: predict(model, machine, counts) for model in chosen}
    if constants:
        for name in constants:
            if name not in CONSTANTS:
                raise ModelError(f"calibrated: {name}: unknown; the constants are {', '.join(CONSTANTS)}")
        for name in ("a1", "a0"):
            if name not in constants:
                raise ModelError(f"calibrated: {name}: must be given with the other constants")
        predictions["calibrated"] = calibrated(machine, counts, **constants, unit=unit)  # type: ignore[arg-type]
    algorithm, closed_form = _closed_form(trace, machine)
    return Predicted(
        program=trace.info.kernel,
        parameters=trace.info.parameters,
        machine=machine,
        predictions=predictions,
        algorithm=algorithm,
        closed_form=closed_form,
        formulas=lambda: {
            model: FACTORS.latex if model == "calibrated" else formula(model).latex for model in predictions
        },
    )


def predict_paper(
    name: str,
    machine: Machine,
    parameters: Mapping[str, float],
    threads_per_core: float | None = None,
    variant: str | None = None,
) -> Predicted:
    """What PRAM and TMM say of a paper's algorithm, from its symbols; and what binds along its size, L and T."""
    algorithm = find(name)
    predictions = predict_algorithm(algorithm, machine, parameters, threads_per_core, variant)
    given = set(parameters)
    values = {**letters_of(machine), **parameters, "T": predictions["tmm"].symbols["T"]}
    along = {}
    for over in VARIED:
        shown = algorithm.tmm(variant, given) if over == "T" else algorithm.time(variant, given)
        letters = {symbol.name for symbol in shown.symbols}
        if over in letters:
            own = {key: value for key, value in values.items() if key in letters and key != over}
            low, high = _range_of(algorithm, over, machine)
            try:
                along[over] = regimes(shown, own, over, low, high)
            except ModelError:  # part of the range is outside the algorithm's domain, as n below Z
                continue
    return Predicted(
        program=algorithm.name,
        parameters={**parameters, **({"variant": variant} if variant else {})},
        machine=machine,
        predictions=predictions,
        regimes=along,
        formulas=lambda: {
            "pram": algorithm.pram(variant, given).latex,
            "tmm": algorithm.tmm(variant, given).latex,
            **({"tmm, refined": algorithm.refined(variant, given).latex} if algorithm.form(variant).threads else {}),
        },
    )


@dataclass(frozen=True)
class Versus:
    """Two algorithms on one machine: who wins along each symbol, the others being fixed.

    skipped: the symbols along which that is not told, and why.
    """

    first: str
    second: str
    machine: Machine
    parameters: Mapping[str, float]
    crossovers: Mapping[str, Crossover]
    skipped: Mapping[str, str]

    def to_dict(self) -> dict[str, Any]:
        """All of it, as one JSON document."""
        return {
            "first": self.first,
            "second": self.second,
            "machine": {"name": self.machine.name, **self.machine.to_dict()},
            "parameters": dict(self.parameters),
            "crossovers": {
                over: {
                    "points": list(found.points),
                    "stretches": [vars(stretch) for stretch in found.stretches],
                    "in_words": str(found),
                }
                for over, found in self.crossovers.items()
            },
            "skipped": dict(self.skipped),
            "provenance": {**provenance(), "machine": self.machine.digest()},
        }


def versus(
    first: str,
    second: str,
    machine: Machine,
    parameters: Mapping[str, float],
    over: Iterable[str] = (),
    threads_per_core: float | None = None,
) -> Versus:
    """Which of two algorithms wins where, by the TMM.

    over: along which symbols; if left out, n, m, L and T, as far as the algorithms have them and the others are given.
    Raises ModelError, the symbol named.
    """
    one, other = find(first), find(second)
    letters = letters_of(machine)
    given = set(parameters)
    known = {symbol.name for algorithm in (one, other) for symbol in algorithm.symbols}
    for name in parameters:
        if name not in known:
            raise ModelError(f"{first} and {second}: {name}: unknown; their symbols are {', '.join(sorted(known))}")
    values = {**letters, **parameters, "T": letters["X"] if threads_per_core is None else threads_per_core}
    asked = list(over)
    crossovers, skipped = {}, {}
    for symbol in asked or VARIED:
        with_threads = symbol == "T" or threads_per_core is not None
        formulas = [
            dataclasses.replace(_timed(algorithm, given, with_threads), name=algorithm.name)
            for algorithm in (one, other)
        ]
        needed = {letter.name for formula in formulas for letter in formula.symbols}
        if symbol not in needed:
            if asked:
                raise ModelError(f"{first} and {second}: {symbol}: neither depends on it")
            continue
        missing = sorted(needed - {symbol} - set(values))
        if missing:
            if asked:
                raise ModelError(f"{first} and {second}: {', '.join(missing)}: must be given to vary {symbol}")
            skipped[symbol] = f"{', '.join(missing)} must be given"
            continue
        own = {key: value for key, value in values.items() if key in needed and key != symbol}
        lows, highs = zip(*(_range_of(algorithm, symbol, machine) for algorithm in (one, other)), strict=True)
        try:
            crossovers[symbol] = crossover(formulas[0], formulas[1], symbol, own, max(lows), min(highs))
        except ModelError as error:
            if asked:
                raise
            skipped[symbol] = str(error)
    if not crossovers:
        reasons = "; ".join(f"{symbol}: {reason}" for symbol, reason in skipped.items())
        raise ModelError(f"{first} and {second}: nothing to vary ({reasons})")
    return Versus(one.name, other.name, machine, parameters, crossovers, skipped)


def _timed(algorithm: Algorithm, given: set[str], with_threads: bool) -> Formula:
    return algorithm.tmm(None, given) if with_threads else algorithm.time(None, given)


def sweep_blocks(
    source: str | Path,
    machine: Machine,
    parameters: Mapping[str, object] | None,
    blocks: range,
    progress: Callable[[int], None] | None = None,
) -> tuple[str, Zigzag]:
    """Throughput over requested blocks by Eq (5.13), for the first launch of a kernel or trace, and its function."""
    trace = _trace(source, parameters, progress)
    launch = trace.info.launches[0]
    return launch.kernel, zigzag(machine, launch, list(blocks))


def _range_of(algorithm: Algorithm, symbol: str, machine: Machine) -> tuple[float, float]:
    """Where a symbol may go: T up to what the machine holds, L up to a million cycles, sizes from their least on."""
    if symbol == "T":
        return min(0.01, machine.cores.threads_per_core / 2), machine.cores.threads_per_core
    if symbol == "L":
        return 1.0, 1e6
    least = next((known.minimum for known in algorithm.symbols if known.name == symbol), 1.0)
    return max(2.0, least), LARGEST


def _trace(
    source: str | Path, parameters: Mapping[str, object] | None, progress: Callable[[int], None] | None
) -> Trace:
    if Path(source).suffix == ".parquet":
        if parameters:
            raise KernelError(f"{source}: parameters ({', '.join(parameters)}) can only be given to a kernel")
        return load_trace(source)
    return record(source, parameters, progress=progress)


def _closed_form(trace: Trace, machine: Machine) -> tuple[str | None, dict[str, Prediction]]:
    """What the models say of the paper's algorithm that a kernel follows, if there is one and its symbols allow it."""
    try:
        kernel = load_kernel(trace.info.kernel)
        made = kernel.algorithm(kernel.resolve(trace.info.parameters))
        if made is None:
            return None, {}
        return made[0], predict_algorithm(find(made[0]), machine, made[1])
    except (
        KernelError,
        ModelError,
    ):  # a trace of a kernel that is not here, or a size outside the closed form's domain
        return None, {}
