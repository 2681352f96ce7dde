"""A Pareto front: two objectives against one another."""

from typing import TYPE_CHECKING

from simtmm.analysis.tuning.tuned import Tuned
from simtmm.errors import OutputError
from simtmm.report.pictures.axes import plain_ticks, set_scales, time_axis
from simtmm.report.pictures.labels import name_points
from simtmm.report.pictures.style import BLUE, GREY, new_axes, set_title, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@styled
def pareto(tuned: Tuned) -> "Figure":
    """All configurations that ran, the front with its intervals and its configurations' values.

    Raises OutputError for a search of one objective.
    """
    if len(tuned.goals.objectives) < 2:
        raise OutputError("a picture of a search: shows a Pareto front: give --minimise twice")
    figure, axes = new_axes(6.4, 4.4)
    chosen = tuned.front
    on_front = {id(trial) for trial in chosen}
    others = [tuned.of(trial) for trial in tuned.done if id(trial) not in on_front]
    if others:
        across, up = ([goals[place].value for goals in others] for place in (0, 1))
        axes.plot(across, up, "o", color=GREY, markersize=3, label="other configurations")
    found = [tuned.of(trial) for trial in chosen]
    across, up = ([goals[place].value for goals in found] for place in (0, 1))
    errors = [
        [
            [goals[place].value - goals[place].low for goals in found],
            [goals[place].high - goals[place].value for goals in found],
        ]
        for place in (0, 1)
    ]
    axes.step(across, up, where="post", color=BLUE, linewidth=1)
    axes.errorbar(across, up, xerr=errors[0], yerr=errors[1], fmt="o", color=BLUE, label="Pareto front")
    of_all = [*found, *others]
    set_scales(axes, [goals[0].value for goals in of_all], [goals[1].value for goals in of_all], None, None)
    plain_ticks(axes)
    for which, objective in zip("xy", tuned.goals.names, strict=True):
        time_axis(axes, which, "s" if objective == "seconds" else "")
    axes.set(xlabel=tuned.goals.names[0], ylabel=tuned.goals.names[1])
    set_title(figure, f"{tuned.program} on {tuned.machine.name}")
    figure.legend(loc="outside lower center", ncols=2)
    names = [", ".join(str(trial.configuration[name]) for name in tuned.over) for trial in chosen]
    name_points(
        figure, axes, [(name, [point]) for name, point in zip(names, zip(across, up, strict=True), strict=True)]
    )
    return figure
