"""What came of tuning, as a person reads it."""

import math
from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from simtmm.analysis.tuning.trial import Trial
from simtmm.analysis.tuning.tuned import FLAT, Tuned
from simtmm.model.series import label
from simtmm.report.text import number, seconds, table

REASONS = 3  # that are listed


def describe_tuned(tuned: Tuned, top: int) -> Iterator[RenderableType]:
    """The best configurations, how flat the optimum is, what the models would choose, and what did not run.

    top: how many configurations are listed.
    """
    yield heading(tuned)
    yield ""
    if len(tuned.goals.objectives) > 1:
        yield from _front(tuned, top)
    else:
        yield from _best(tuned, top)
    yield from _left_out(tuned)


def heading(tuned: Tuned) -> Text:
    """The program, its parameters and the machine."""
    fixed = ", ".join(f"{name}={value}" for name, value in tuned.fixed.items())
    return Text(f"{tuned.program}{f' ({fixed})' if fixed else ''} on {tuned.machine.name}", style="bold")


def interval(error: float) -> str:
    """Half of an interval, as a part of a time."""
    return f"{100 * error:.2g} %" if error else "exact"


def _best(tuned: Tuned, top: int) -> Iterator[RenderableType]:
    ranked, is_time = tuned.ranked(), tuned.goals.is_time
    rows = [
        (
            *_values(trial, tuned.over), *(() if is_time else _objectives(tuned, trial)), _time(trial),
            interval(trial.error), _ratio(tuned.over_best(trial)), str(trial.blocks), str(trial.registers or ""),
            trial.bound,
        )
        for trial in ranked[:top]
    ]  # fmt: skip
    objective = () if is_time else (*tuned.goals.names, "±")
    columns = (*tuned.over, *objective, "simulated", "±", "of the best", "blocks", "registers", "bound by")
    yield table("Fastest configurations" if is_time else "Best configurations", columns, rows, left=(len(columns) - 1,))
    yield from _more(len(ranked), top)
    yield from _uncertain(tuned, ranked[:top])
    yield ""
    yield Text(_flatness(tuned))
    yield ""
    chosen = [
        (label(each.model), *_values(each.trial, tuned.over), _time(each.trial), _ratio(each.slowdown))
        for each in tuned.choices()
    ]
    yield table("The models would choose", ("model", *tuned.over, "simulated", "of the best"), chosen)


def _front(tuned: Tuned, top: int) -> Iterator[RenderableType]:
    found = tuned.front
    rows = [
        (*_values(trial, tuned.over), *_objectives(tuned, trial), _time(trial), trial.bound) for trial in found[:top]
    ]
    objectives = [column for name in tuned.goals.names for column in (name, "±")]
    columns = (*tuned.over, *objectives, "simulated", "bound by")
    yield table("Pareto front", columns, rows, left=(len(columns) - 1,))
    yield from _more(len(found), top)
    yield from _uncertain(tuned, found[:top])
    yield ""
    number_done = len(tuned.done)
    yield Text(
        f"{len(found):,} of {number_done:,} configurations are on the front: no other one simulated as "
        "precisely is as good in one objective and better in the other."
    )


def _more(number_found: int, top: int) -> Iterator[RenderableType]:
    if number_found > top:
        yield Text(f"and {number_found - top:,} more: see --json")


def _uncertain(tuned: Tuned, listed: list[Trial]) -> Iterator[RenderableType]:
    unsure = sum(not tuned.goals.surely_met(trial) for trial in listed)
    if unsure:
        yield Text(f"{unsure:,} of these may not meet --where: the interval of the time crosses the limit")


def _flatness(tuned: Tuned) -> str:
    percent = round(100 * FLAT)
    worse = "take at most {} % longer than it does" if tuned.goals.is_time else "are at most {} % worse than it is"
    flat = f"{tuned.flat:,} of {len(tuned.done):,} configurations, the best included, {worse.format(percent)}"
    if not tuned.rivals:
        return f"{flat}; no other interval reaches the best one's."
    good = "fast" if tuned.goals.is_time else "good"
    return f"{flat}; the intervals of {tuned.rivals:,} reach the best one's, so one of these may be as {good}."


def bounded(tuned: Tuned) -> Iterator[RenderableType]:
    """How many configurations were not simulated, and what they take at least."""
    if tuned.bounded:
        cycles, time = min((tuned.least(trial) for trial in tuned.bounded), key=lambda least: least[1] or least[0])
        number_bounded = len(tuned.bounded)
        least = f"{number(cycles)} cycles" if time is None else seconds(time)
        yield ""
        yield Text(
            f"{number_bounded:,} configuration{'s' * (number_bounded != 1)} not simulated: by their instructions and "
            "the "
            f"machine's rules {'each takes' if number_bounded != 1 else 'it takes'} at least {least}, and the best "
            "takes less"
        )


def _left_out(tuned: Tuned) -> Iterator[RenderableType]:
    reasons = tuned.reasons()
    yield from bounded(tuned)
    if tuned.sampled:
        yield ""
        yield Text(f"{len(tuned.trials):,} of {tuned.sampled:,} combinations were tried, as the sampler chose")
    if tuned.excluded:
        yield ""
        yield Text(f"{tuned.excluded:,} combination{'s' * (tuned.excluded != 1)} left out by --where")
    if tuned.unmet:
        yield ""
        yield Text(f"{tuned.unmet:,} configuration{'s' * (tuned.unmet != 1)} ran and did not meet --where")
    if reasons:
        yield ""
        rows = [(f"{count:,}", reason) for reason, count in list(reasons.items())[:REASONS]]
        yield table("Can't run", ("", "because"), rows, left=(1,))
        others = len(reasons) - REASONS
        if others > 0:
            yield Text(f"and {others:,} other reason{'s' * (others != 1)}: see --json")
    if tuned.open:
        yield ""
        yield Text(f"{tuned.open:,} configuration{'s' * (tuned.open != 1)} not run yet")


def _values(trial: Trial, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(str(trial.configuration[name]) for name in names)


def _objectives(tuned: Tuned, trial: Trial) -> tuple[str, ...]:
    """Each objective, and half of its interval."""
    return tuple(text for goal in tuned.of(trial) for text in (f"{goal.value:,.4g}", interval(goal.error)))


def _time(trial: Trial) -> str:
    return f"{number(trial.cycles)} cycles" if trial.seconds is None else seconds(trial.seconds)


def _ratio(ratio: float) -> str:
    return "" if math.isnan(ratio) else f"{ratio:.2f}"
