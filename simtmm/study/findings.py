"""Findings: what mattered in a study: elasticities, forms of curves, where what binds changes, knees."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simtmm.display import Displayed
from simtmm.errors import StudyError, escaped, shown
from simtmm.extras import frame
from simtmm.model.series import MEASURED, SIMULATED
from simtmm.study.alongside import Carried, carried_along
from simtmm.study.curves import SAME, Curve, Curves, curves
from simtmm.study.design.axes import Value
from simtmm.study.design.columns import Floats, numbered
from simtmm.study.regimes import Change, Held, changes_along, held_along
from simtmm.study.results import Results
from simtmm.study.shapes import Shape, shape_of
from simtmm.study.winners import Winner, winners_of

if TYPE_CHECKING:
    import pandas

FRAMES = ("elasticities", "spreads", "changes", "forms", "knees", "held", "carried", "winners")
MOST_CURVES = 2_000  # of an axis, that are looked at for knees and changes: nobody reads more


@dataclass(frozen=True)
class Elasticity:
    """By how many per cent time grows where an axis grows by one per cent: the median over curves, and its range.

    curves: their number; 0 where the axis is sampled, and the elasticity is that of a regression over all points.
    """

    axis: str
    quantity: str
    value: float
    low: float
    high: float
    curves: int


@dataclass(frozen=True)
class Spread:
    """For an axis of words: slowest over fastest, and who is fastest.

    ratio, fastest, slowest: medians over curves, of the ratio and of the two times [cycles]. best: the value that is
    fastest in most curves, and those that are so as often; none where all are equal in all. wins: in how many curves.
    equal: in how many all values take the same time.
    """

    axis: str
    quantity: str
    ratio: float
    best: tuple[Value, ...]
    wins: int
    equal: int
    curves: int
    fastest: float
    slowest: float


@dataclass(frozen=True)
class Form:
    """The form of a curve (shapes.Shape): flat, linear, 1/x and so on, or with a knee."""

    axis: str
    quantity: str
    fixed: Mapping[str, Value]
    shape: Shape


@dataclass(frozen=True)
class Knee:
    """The knee of a curve (shapes.Knee), and beside it where each model's binding term changes on the same curve.

    between: the points among which it lies. error: of the two segments, root mean square of the relative error.
    """

    axis: str
    quantity: str
    fixed: Mapping[str, Value]
    at: float
    between: tuple[float, float]
    before: float
    after: float
    error: float
    thresholds: Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class Findings(Displayed):
    """What mattered in a study.

    study: the results.
    elasticities: the elasticity of time along each numeric axis.
    spreads: slowest over fastest time, along each axis of words.
    changes: where the bottleneck changes along an axis, for each curve.
    forms: the forms of the curves.
    knees: the knees of the curves, and the models' thresholds.
    fastest: the axes of the fastest point by each quantity; of equal points, the first.
    ties: the number of points as fast as the fastest, including itself, and of all points, by quantity.
    held: what else limits resident blocks along an axis that limits them.
    carried: what changes together with an axis.
    winners: the fastest of several programs at each place.
    curves: the number of curves, by axis, if an axis has more than MOST_CURVES of them; changes, forms and knees then
        cover MOST_CURVES curves, evenly spaced.
    """

    study: Results = field(repr=False, compare=False)
    elasticities: tuple[Elasticity, ...]
    spreads: tuple[Spread, ...]
    changes: tuple[Change, ...]
    forms: tuple[Form, ...]
    knees: tuple[Knee, ...]
    fastest: Mapping[str, Mapping[str, Value]]
    ties: Mapping[str, tuple[int, int]]
    held: tuple[Held, ...]
    carried: tuple[Carried, ...]
    winners: tuple[Winner, ...] = ()
    curves: Mapping[str, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        told = [f"{len(getattr(self, kind))} {kind}" for kind in FRAMES if getattr(self, kind)]
        return f"Findings({escaped(self.study.design.subject.name)}: {', '.join(told) or 'none'})"

    def to_dict(self) -> dict[str, Any]:
        """The whole object, for JSON."""
        return {each.name: _plain(getattr(self, each.name)) for each in fields(self) if each.name != "study"}

    def to_frame(self, kind: str) -> "pandas.DataFrame":
        """A row for each finding of one kind, for pandas.

        kind: "elasticities", "spreads", "changes", "forms", "knees", "held", "carried" or "winners".

        Raises StudyError for another, and OutputError where pandas is not installed.
        """
        if kind not in FRAMES:
            raise StudyError(f"kind = {shown(kind)}: must be one of {', '.join(FRAMES)}")
        return frame(_plain(getattr(self, kind)))


def _plain(found: Any) -> Any:
    """Values of classes as dicts, however deep they stand."""
    if isinstance(found, tuple):
        return tuple(map(_plain, found))
    return asdict(found) if is_dataclass(found) and not isinstance(found, type) else dict(found)


def findings(study: Results) -> Findings:
    """Find what mattered in a study; `simtmm sweep` prints this with its points.

    study: the result of `sweep`. Unfinished points are ignored.
    """
    design = study.design
    quantities = [name for name in design.compute if np.isfinite(study.cycles[name]).any()]
    elasticities: list[Elasticity] = []
    spreads: list[Spread] = []
    changes: list[Change] = []
    held: list[Held] = []
    forms: list[Form] = []
    knees: list[Knee] = []
    limited: dict[str, int] = {}
    for group in design.crossed:
        axis = next((name for name in group if study.axes[name].is_numeric), group[0])
        along = curves(study, axis)
        if not study.axes[axis].is_numeric:
            spreads += [spread for quantity in quantities if (spread := _spread(along, quantity))]
            continue
        elasticities += [elasticity for quantity in quantities if (elasticity := _elasticity(along, quantity))]
        if len(along) > MOST_CURVES:
            limited[axis] = len(along)
        for curve in along.some(MOST_CURVES):
            held += [one for one in [held_along(curve)] if one]
            own = [change for quantity in quantities for change in changes_along(curve, quantity)]
            its = _forms(curve, quantities)
            changes += own
            forms += its
            knees += _knees(its, own)
    elasticities += [elasticity for quantity in quantities for elasticity in _regression(study, quantity)]
    fastest = {
        quantity: {name: column.at(best) for name, column in study.axes.items()}
        for quantity in quantities
        for best in (int(np.nanargmin(study.cycles[quantity])),)
    }
    ties = {quantity: _ties(study.cycles[quantity]) for quantity in quantities}
    return Findings(
        study=study,
        elasticities=tuple(elasticities),
        spreads=tuple(spreads),
        changes=tuple(changes),
        forms=tuple(forms),
        knees=tuple(knees),
        fastest=fastest,
        ties=ties,
        held=tuple(held),
        carried=carried_along(design),
        winners=winners_of(study),
        curves=limited,
    )


def _ties(cycles: Floats) -> tuple[int, int]:
    """How many are as small as the smallest, and of how many."""
    there = cycles[np.isfinite(cycles)]
    return int((there <= there.min() * (1 + SAME)).sum()), len(there)


def _elasticity(along: Curves, quantity: str) -> Elasticity | None:
    slopes = along.slopes(quantity)
    if not len(slopes):
        return None
    value, low, high = float(np.median(slopes)), float(slopes.min()), float(slopes.max())
    return Elasticity(along.axis, quantity, value, low, high, len(slopes))


def _spread(along: Curves, quantity: str) -> Spread | None:
    cycles, curve = along.results.cycles[quantity][along.order], along.numbers
    there = cycles > 0
    curve, cycles, points = curve[there], cycles[there], along.order[there]
    curve, count = np.unique(curve, return_inverse=True, return_counts=True)[1:]
    several = count[curve] > 1
    curve, cycles, points = np.unique(curve[several], return_inverse=True)[1], cycles[several], points[several]
    if not len(curve):
        return None
    number = int(curve.max()) + 1
    best, worst = np.full(number, np.inf), np.zeros(number)
    np.minimum.at(best, curve, cycles)
    np.maximum.at(worst, curve, cycles)
    equal = worst <= best * (1 + SAME)
    axis = along.results.axes[along.axis]
    # Where all are equal nothing wins; where some are, all of those do
    winning = (cycles <= best[curve] * (1 + SAME)) & ~equal[curve]
    wins = np.bincount(axis.places[points[winning]], minlength=len(axis.values))
    most = int(wins.max())
    return Spread(
        axis=along.axis,
        quantity=quantity,
        ratio=float(np.median(worst / best)),
        best=tuple(axis.values[place] for place in np.flatnonzero(wins == most)) if most else (),
        wins=most,
        equal=int(equal.sum()),
        curves=number,
        fastest=float(np.median(best)),
        slowest=float(np.median(worst)),
    )


def _regression(results: Results, quantity: str) -> list[Elasticity]:
    """Elasticities to all sampled axes at once, by least squares of logarithms; the grid's places have each its level.

    low and high are two standard errors away.
    """
    names = [name for name in results.design.sampled if results.axes[name].is_numeric]
    points = np.flatnonzero(results.cycles[quantity] > 0)
    numbers = np.stack([results.cycles[quantity][points], *(results.axes[name].numbers(points) for name in names)])
    good = (numbers > 0).all(axis=0)
    points, logs = points[good], np.log(numbers[:, good])
    level = numbered(results.axes, [name for group in results.design.crossed for name in group], points)
    levels = np.bincount(level, minlength=1)
    freedom = len(points) - len(levels) - len(names)
    if not names or freedom < 1:
        return []
    logs = np.stack([row - (np.bincount(level, row) / levels)[level] for row in logs])
    x, time = logs[1:].T, logs[0]
    found, _, rank, _ = np.linalg.lstsq(x, time, rcond=None)
    if rank < len(names):
        return []
    variance = float(((time - x @ found) ** 2).sum()) / freedom
    errors = np.sqrt(variance * np.diag(np.linalg.inv(x.T @ x)))
    return [
        Elasticity(name, quantity, float(value), float(value - 2 * error), float(value + 2 * error), 0)
        for name, value, error in zip(names, found, errors, strict=True)
    ]


def _forms(curve: Curve, quantities: Sequence[str]) -> list[Form]:
    """Of what was simulated or measured; of the models where there is neither."""
    chosen = [quantity for quantity in quantities if quantity in (SIMULATED, MEASURED)] or quantities
    shapes = {quantity: shape_of(*curve.points(quantity)) for quantity in chosen}
    return [Form(curve.axis, quantity, curve.fixed, shape) for quantity, shape in shapes.items() if shape]


def _knees(forms: Sequence[Form], changes: Sequence[Change]) -> list[Knee]:
    """Those of a curve's forms, beside the models' changes on it."""
    thresholds: dict[str, list[float]] = {}
    for change in changes:
        if change.quantity != SIMULATED:
            thresholds.setdefault(change.quantity, []).append(change.at)
    return [
        Knee(form.axis, form.quantity, form.fixed, **asdict(knee), error=form.shape.error, thresholds=thresholds)
        for form in forms
        if (knee := form.shape.knee)
    ]
