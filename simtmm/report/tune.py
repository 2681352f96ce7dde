"""What came of tuning, as a person reads it."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from simtmm.analysis.tuning.search import FLAT, Tuned
from simtmm.analysis.tuning.trial import Trial
from simtmm.model.series import label
from simtmm.report.text import number, seconds, table

REASONS = 3  # that are listed


def describe_tuned(tuned: Tuned, top: int) -> Iterator[RenderableType]:
    """The fastest configurations, how flat the optimum is, what the models would choose, and what did not run.

    top: how many configurations are listed.
    """
    fixed = ", ".join(f"{name}={value}" for name, value in tuned.fixed.items())
    yield Text(f"{tuned.program}{f' ({fixed})' if fixed else ''} on {tuned.machine.name}", style="bold")
    yield ""
    ranked, best = tuned.ranked(), tuned.best
    rows = [
        (
            *_values(trial, tuned.over), _time(trial), _interval(trial), _over(trial.cycles, best.cycles),
            str(trial.blocks), str(trial.registers or ""), trial.bound,
        )
        for trial in ranked[:top]
    ]  # fmt: skip
    columns = (*tuned.over, "simulated", "±", "of the best", "blocks", "registers", "bound by")
    yield table("Fastest configurations", columns, rows, left=(len(columns) - 1,))
    if len(ranked) > top:
        yield Text(f"and {len(ranked) - top:,} more: see --json")
    yield ""
    yield Text(_flatness(tuned))
    yield ""
    chosen = [
        (label(each.model), *_values(each.trial, tuned.over), _time(each.trial), f"{each.slowdown:.2f}")
        for each in tuned.choices()
    ]
    yield table("The models would choose", ("model", *tuned.over, "simulated", "of the best"), chosen)
    yield from _left_out(tuned)


def _flatness(tuned: Tuned) -> str:
    done = sum(trial.status == "done" for trial in tuned.trials)
    percent = round(100 * (FLAT - 1))
    flat = f"{tuned.flat:,} of {done:,} configurations, the best included, take at most {percent} % longer than it does"
    if not tuned.rivals:
        return f"{flat}; no other's interval reaches the best's."
    return f"{flat}; the intervals of {tuned.rivals:,} reach the best's, so that one of these may be as fast."


def _left_out(tuned: Tuned) -> Iterator[RenderableType]:
    reasons = tuned.reasons()
    if tuned.excluded:
        yield ""
        yield Text(f"{tuned.excluded:,} combination{'s' * (tuned.excluded != 1)} left out by --where")
    if reasons:
        yield ""
        rows = [(f"{count:,}", reason) for reason, count in list(reasons.items())[:REASONS]]
        yield table("Can't run", ("", "because"), rows, left=(1,))
        if len(reasons) > REASONS:
            yield Text(f"and {len(reasons) - REASONS:,} other reasons: see --json")


def _values(trial: Trial, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(str(trial.configuration[name]) for name in names)


def _time(trial: Trial) -> str:
    return f"{number(trial.cycles)} cycles" if trial.seconds is None else seconds(trial.seconds)


def _interval(trial: Trial) -> str:
    return f"{100 * trial.error:.2g} %" if trial.error else "exact"


def _over(cycles: float, best: float) -> str:
    return f"{cycles / best:.2f}" if best else ""
