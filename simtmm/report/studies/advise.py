"""Advice on launch shapes, as a person reads it."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from simtmm.analysis.tuning.advice import Advice, Choice, cycles_of
from simtmm.model.series import label
from simtmm.report.studies.answers import LISTED
from simtmm.report.studies.tune import bounded, heading, interval
from simtmm.report.text import number, table


def describe_advice(advice: Advice) -> Iterator[RenderableType]:
    """The choices, then the configurations from the fastest on."""
    tuned, ranked, axes = advice.tuned, advice.ranked(), advice.axes
    yield heading(tuned)
    yield ""
    columns = ("by", *axes, "its cycles", "simulated", "of the best", "")
    choices = [_choice(choice, axes) for choice in advice.choices]
    yield table("Best configuration", columns, choices, left=(0, len(axes) + 4))
    yield ""
    best = ranked[0].cycles
    listed = [
        (
            *(str(trial.configuration[name]) for name in axes),
            *(number(cycles_of(trial, by)) for by in advice.series),
            interval(trial.error),
            f"{trial.cycles / best:.2f}" if best else "",
        )
        for trial in ranked[:LISTED]
    ]
    names = (*axes, *(label(by) for by in advice.series), "±", "of the best")
    yield table("Configurations, in cycles", names, listed, left=())
    if len(ranked) > LISTED:
        yield Text(f"and {len(ranked) - LISTED:,} more: see --json")
    yield from bounded(tuned)
    reasons = tuned.reasons()
    if reasons:
        refused = sum(reasons.values())
        reason = next(trial.reason for trial in tuned.trials if trial.reason)
        yield ""
        yield Text(f"{refused:,} configuration{'s' * (refused != 1)} left out; the first because: {reason}")
    if tuned.open:
        yield ""
        yield Text(f"{tuned.open:,} configuration{'s' * (tuned.open != 1)} not run yet")


def _choice(choice: Choice, axes: tuple[str, ...]) -> tuple[str, ...]:
    tied = f"as fast as {choice.ties - 1} more" if choice.ties > 1 else ""
    values = (str(choice.configuration[name]) for name in axes)
    return (
        label(choice.by), *values, number(choice.cycles), number(choice.simulated), f"{choice.slowdown:.2f}", tied,
    )  # fmt: skip
