"""Predictions as a person reads them."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from simtmm.model.algorithms import written
from simtmm.model.regimes import Crossover
from simtmm.model.scheduling import Zigzag
from simtmm.report.text import bar, number, seconds, table
from simtmm.result import Prediction
from simtmm.study.predict import Predicted, Versus

LONG = 1e12  # from here on a number is shown with its exponent
NAMES = {
    "pram": "PRAM",
    "tmm": "TMM",
    "tmm-warps": "TMM, warps wait",
    "integrated": "integrated, MAX",
    "integrated-sum": "integrated, SUM",
    "rehman": "Rehman, MAX",
    "rehman-sum": "Rehman, SUM",
    "roofline": "roofline",
    "mwp-cwp": "MWP-CWP",
    "calibrated": "calibrated",
}


def describe_prediction(made: Predicted) -> Iterator[RenderableType]:
    """Times, terms, symbols, and where what binds changes."""
    yield Text(_heading(made), style="bold")
    yield ""
    forms = {f"{NAMES[model]}, closed form": prediction for model, prediction in made.closed_form.items()}
    all_of_them = {NAMES[model]: prediction for model, prediction in made.predictions.items()} | forms
    rows = [
        (name, _short(prediction.cycles), seconds(prediction.seconds), prediction.bound, prediction.source)
        for name, prediction in all_of_them.items()
    ]
    yield table("Time", ("", "cycles", "time", "bound by", "source"), rows, left=(0, 3, 4))
    if made.no_closed_form:
        yield ""
        yield Text(f"No closed form: {made.no_closed_form}")
    yield ""
    yield table("Terms", ("", "", "cycles", ""), list(_terms(all_of_them)), left=(0, 1, 3))
    yield ""
    yield table("Symbols", ("", ""), [(name, _symbols(prediction)) for name, prediction in all_of_them.items()], (0, 1))
    for over, regimes in made.regimes.items():
        yield ""
        found = [
            (f"{_short(regime.start)} to {_short(regime.stop)}", regime.bound, _begins(over, regime.begins))
            for regime in regimes
        ]
        yield table(f"What binds along {over}", (over, "", ""), found, left=(0, 1, 2))


def describe_formulas(formulas: dict[str, str]) -> Iterator[RenderableType]:
    """LaTeX, a model a line."""
    for model, latex in formulas.items():
        yield Text(f"{model}: {latex}")


def describe_versus(made: Versus) -> Iterator[RenderableType]:
    """Who wins where, a sentence a symbol."""
    values = ", ".join(f"{name}={_value(value)}" for name, value in made.parameters.items())
    yield Text(f"{made.first} versus {made.second}{f' ({values})' if values else ''} on {made.machine.name}", "bold")
    yield ""
    rows = [(f"along {over}", _winners(found)) for over, found in made.crossovers.items()]
    rows += [(f"along {over}", f"not told: {reason}") for over, reason in made.skipped.items()]
    yield table("By the TMM", ("", ""), rows, left=(0, 1))


def describe_zigzag(function: str, swept: Zigzag, machine: str) -> Iterator[RenderableType]:
    """Relative throughput over requested blocks."""
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
    yield Text(f"Peaks at multiples of {swept.period}, as long as the whole work is the same.")


def _heading(made: Predicted) -> str:
    parameters = ", ".join(f"{name}={_value(value)}" for name, value in made.parameters.items())
    return f"{made.program}{f' ({parameters})' if parameters else ''} on {made.machine.name}"


def _terms(predictions: dict[str, Prediction]) -> Iterator[tuple[str, str, str, str]]:
    for name, prediction in predictions.items():
        for index, (term, cycles) in enumerate(prediction.terms.items()):
            yield "" if index else name, term, _short(cycles), "binds" if term == prediction.bound else ""


def _symbols(prediction: Prediction) -> str:
    return ", ".join(f"{name}={_value(value)}" for name, value in prediction.symbols.items())


def _value(value: object) -> str:
    if isinstance(value, float):
        return _short(value) if value >= 100 else f"{value:.4g}"
    return _short(value) if isinstance(value, int) else str(value)


def _short(value: float) -> str:
    return number(value) if abs(value) < LONG else f"{value:.4g}"


def _winners(found: Crossover) -> str:
    if not found.everywhere:
        return str(found)
    (whole,) = found.stretches
    return f"{found}, {found.over} from {_short(whole.start)} to {_short(whole.stop)}"


def _begins(over: str, expression: object) -> str:
    return "" if expression is None else f"from {over} = {written(expression)}"
