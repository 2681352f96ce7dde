"""Predictions as a person reads them."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from simtmm.analysis.prediction.crossover import Versus
from simtmm.analysis.prediction.predictions import Predictions
from simtmm.machine import Machine
from simtmm.model.algorithms import ALGORITHMS, written
from simtmm.model.algorithms.regimes import Crossover
from simtmm.model.algorithms.speedup import COUNTED, Speedup
from simtmm.model.algorithms.symbol_ranges import NOT_GIVEN
from simtmm.model.departure import MeasuredDeparture
from simtmm.model.latency_hiding import Hiding
from simtmm.model.launch.scheduling import Zigzag
from simtmm.model.series import label
from simtmm.report.papers.latency_hiding import hiding_rows
from simtmm.report.text import bar, seconds, short, table
from simtmm.result import Prediction
from simtmm.sampling.outcome import Sampled


def describe_algorithms() -> Iterator[RenderableType]:
    """The papers' algorithms, with their symbols."""
    rows = [(name, ", ".join(symbol.name for symbol in each.symbols), each.title) for name, each in ALGORITHMS.items()]
    yield table("", ("algorithm", "symbols", "meaning"), rows, left=(0, 1, 2))


def describe_prediction(predicted: Predictions) -> Iterator[RenderableType]:
    """Times, terms, symbols, and where what binds changes."""
    yield Text(_heading(predicted), style="bold")
    for warning in predicted.warnings:
        yield Text(f"Warning: {warning}", style="yellow")
    if predicted.sampled:
        yield Text(f"Sampled: {told_counts(predicted.sampled)}")
    if predicted.forced:
        claims = " or ".join(f"{claim:,}" for claim in predicted.forced.shared_memory)
        most = predicted.forced.active_blocks
        yield Text(f"Active blocks: {most} at most, so a block must claim {claims} bytes of shared memory")
    yield ""
    forms = {f"{label(model)}, closed form": prediction for model, prediction in predicted.closed_form.items()}
    all_of_them = {label(model): prediction for model, prediction in predicted.predictions.items()} | forms
    rows = [
        (name, short(prediction.cycles), seconds(prediction.seconds), prediction.bound, prediction.source)
        for name, prediction in all_of_them.items()
    ]
    yield table("Time", ("", "cycles", "time", "bound by", "source"), rows, left=(0, 3, 4))
    if predicted.departed:
        yield ""
        yield table("Measured", ("", "over predicted", ""), list(_departed(predicted.departed)), left=(0, 2))
    if predicted.no_closed_form:
        yield ""
        yield Text(f"No closed form: {predicted.no_closed_form}")
    yield ""
    yield table("Terms", ("", "", "cycles", ""), list(_terms(all_of_them)), left=(0, 1, 3))
    yield ""
    yield table("Symbols", ("", ""), [(name, _symbols(prediction)) for name, prediction in all_of_them.items()], (0, 1))
    if predicted.speedup:
        yield ""
        symbols = predicted.predictions["tmm"].symbols
        counted = [
            (name, short(symbols[name]), COUNTED[name], written) for name, written in predicted.speedup.counts.items()
        ]
        yield table("Counts", ("", "", "", ""), counted, left=(0, 2, 3))
    if predicted.hiding:
        yield ""
        largest = ("largest L that T hides", short(predicted.hiding.largest_latency), "cycles")
        hidden = [*hiding_rows(predicted.hiding, predicted.machine), largest]
        yield table("Hiding the latency", ("", "", ""), hidden, left=(0, 2))
    if predicted.speedup:
        yield from _beyond(predicted.speedup.hiding)
        yield ""
        yield table("Speedup", ("", "", ""), list(_speedup(predicted.speedup, predicted.machine)), left=(0, 2))
    for over, regimes in predicted.regimes.items():
        yield ""
        found = [
            (f"{short(regime.start)} to {short(regime.stop)}", regime.bound, _begins(over, regime.begins))
            for regime in regimes
        ]
        yield table(f"What binds along {over}", (over, "", ""), found, left=(0, 1, 2))


def told_counts(sampled: Sampled) -> str:
    """Half of the interval in which sampled counts lie, and what was simulated."""
    return f"counts ± {100 * sampled.counts_error:.2g} % ({sampled.words})"


def describe_formulas(formulas: dict[str, str]) -> Iterator[RenderableType]:
    """LaTeX, a model a line."""
    for model, latex in formulas.items():
        yield Text(f"{model}: {latex}")


def describe_versus(versus: Versus) -> Iterator[RenderableType]:
    """Who wins where, a sentence a symbol."""
    values = ", ".join(f"{name}={_value(value)}" for name, value in versus.parameters.items())
    yield Text(
        f"{versus.first} versus {versus.second}{f' ({values})' if values else ''} on {versus.machine.name}", "bold"
    )
    yield ""
    rows = [(f"along {over}", _winners(found)) for over, found in versus.crossovers.items()]
    for reason in dict.fromkeys(versus.skipped.values()):
        along = ", ".join(over for over, why in versus.skipped.items() if why == reason)
        rows.append((f"along {along}", f"unknown: {reason}{' (--param)' if reason.endswith(NOT_GIVEN) else ''}"))
    yield table("By the TMM", ("", ""), rows, left=(0, 1))


def describe_zigzag(function: str, swept: Zigzag, machine: str) -> Iterator[RenderableType]:
    """Relative throughput over requested blocks.

    function: the kernel's function.
    swept: throughput by blocks.
    machine: its name.
    """
    yield Text(f"{function} on {machine}: {swept.active_blocks} active blocks a core group", style="bold")
    yield ""
    peaks = set(swept.local_maxima.tolist())
    rows = [
        (str(blocks), f"{factor:.4g}", f"{throughput:.3f}", bar(throughput, 1), "peak" if blocks in peaks else "")
        for blocks, factor, throughput in zip(
            swept.blocks.tolist(), swept.f_sched.tolist(), swept.relative_throughput.tolist(), strict=True
        )
    ]
    yield table("Throughput over requested blocks, Eq (5.13)", ("blocks", "f_sched", "relative", "", ""), rows, (3, 4))
    yield ""
    yield Text(f"Peaks at multiples of {swept.period}, if the total work stays the same.")


def _departed(found: MeasuredDeparture) -> Iterator[tuple[str, str, str]]:
    yield "measured", seconds(found.seconds), ""
    for name, ratio in found.ratios.items():
        model, comma, form = name.partition(", ")
        departs = f"differs by more than {found.factor:g} times" if name in found.departing else ""
        yield f"{label(model)}{comma}{form}", f"{ratio:.3g}", departs


def _beyond(hidden: Hiding) -> Iterator[RenderableType]:
    """A word where T is given and is more than there can be."""
    for name, limit in hidden.limits.items():
        if hidden.in_use > limit * (1 + 1e-9):  # else it is that limit, but for rounding
            yield ""
            yield Text(f"Note: T = {hidden.in_use:.4g} is above its limit from {name}, {limit:.4g}.", style="yellow")


def _speedup(found: Speedup, machine: Machine) -> Iterator[tuple[str, str, str]]:
    """Eq (3.1) and (3.3), and what linear speedup asks of the latency."""
    yield "effective work", short(found.effective_work), "operations, T_E = max(T1, M L / T)"
    yield "speedup", short(found.speedup), f"S_P, of P = {machine.processors}"
    for requirement in found.requirements:
        condition = f", as {requirement.where}" if requirement.where else ""
        met = "met" if requirement.met else "not met"
        meaning = f"{requirement.formula}{condition} ({requirement.limit}), {met} by L = {machine.memory.latency:g}"
        yield "linear up to L =", short(requirement.latency), meaning


def _heading(prediction: Predictions) -> str:
    parameters = ", ".join(f"{name}={_value(value)}" for name, value in prediction.parameters.items())
    return f"{prediction.program}{f' ({parameters})' if parameters else ''} on {prediction.machine.name}"


def _terms(predictions: dict[str, Prediction]) -> Iterator[tuple[str, str, str, str]]:
    for name, prediction in predictions.items():
        for index, (term, cycles) in enumerate(prediction.terms.items()):
            yield "" if index else name, term, short(cycles), "binds" if term == prediction.bound else ""


def _symbols(prediction: Prediction) -> str:
    return ", ".join(f"{name}={_value(value)}" for name, value in prediction.symbols.items())


def _value(value: object) -> str:
    if isinstance(value, float):
        return short(value) if value >= 100 else f"{value:.4g}"
    return short(value) if isinstance(value, int) else str(value)


def _winners(found: Crossover) -> str:
    if not found.everywhere:
        return str(found)
    (whole,) = found.stretches
    return f"{found}, {found.over} from {short(whole.start)} to {short(whole.stop)}"


def _begins(over: str, expression: object) -> str:
    return "" if expression is None else f"from {over} = {written(expression)}"
