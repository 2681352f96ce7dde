"""How series are drawn: each alike in every picture, and no two alike."""

from collections.abc import Sequence
from typing import Any

from simtmm.errors import OutputError
from simtmm.model import MODELS, MODELS_OF_ALGORITHMS
from simtmm.model.calibrated import CALIBRATED
from simtmm.model.series import MEASURED, SIMULATED, all_series
from simtmm.report.pictures.style import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, RED, SKY, YELLOW

PALETTE = (BLUE, ORANGE, GREEN, RED, PURPLE, SKY, YELLOW)  # of what is no series: black is the simulated one's
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")
FEWER = "choose fewer"  # what to do about too many lines
STYLES = 2 * len(PALETTE)  # that can be distinguished: full and solid, open and dashed

# Of the families of models, in the order of `_family`: those that are added to MODELS come last, and change no other's.
FAMILY_COLOURS = (SKY, YELLOW, GREY, BLUE, GREEN, ORANGE, RED, PURPLE)
FAMILY_MARKERS = ("P", "X", "x", "o", "s", "^", "D", "v")


def look(series: str) -> dict[str, Any]:
    """How a series is drawn, the same in every picture: what `Axes.plot` takes.

    Forms of one model share a colour, and every other one is open. Raises KeyError for a name that is no series.
    """
    if series == SIMULATED:
        return _marked(BLACK, "o")
    if series == MEASURED:
        return _marked(BLACK, "*") | {"linestyle": "--"}
    family, form = _family(series)
    turns, place = divmod(family, len(FAMILY_COLOURS))  # once around, a colour gets another marker
    marker = FAMILY_MARKERS[(place + turns + form // 2) % len(FAMILY_MARKERS)]
    return _marked(FAMILY_COLOURS[place], marker, filled=form % 2 == 0)


def _family(model: str) -> tuple[int, int]:
    """The place of a model's family among all, and of the model among the forms of its family."""
    families: dict[str, list[str]] = {}
    for known in (CALIBRATED, *MODELS_OF_ALGORITHMS.values(), *MODELS.values()):
        families.setdefault(known.family, []).append(known.name)
    for place, forms in enumerate(families.values()):
        if model in forms:
            return place, forms.index(model)
    raise KeyError(model)


def _marked(colour: str, marker: str, filled: bool = True) -> dict[str, Any]:
    return {
        "color": colour,
        "marker": marker,
        "markerfacecolor": colour if filled else "white",
        "markeredgecolor": colour,
    }


def look_of(place: int) -> dict[str, Any]:
    """The same for what is no series of a comparison, by its place among the lines, below STYLES."""
    again, colour = divmod(place, len(PALETTE))
    drawn = _marked(PALETTE[colour], MARKERS[(colour + again) % len(MARKERS)], filled=not again)
    return drawn | {"linestyle": (0, (5, 2))} if again else drawn


def looks_of(names: Sequence[str], where: str, remedy: str = FEWER) -> dict[str, dict[str, Any]]:
    """How each of these lines is drawn: series as everywhere, others by place, and none like another.

    where: what is drawn, for errors; remedy: what to do about too many. Raises OutputError for more lines than can be
    distinguished.
    """
    known = {name: look(name) for name in names if name in all_series()}
    free = [style for style in map(look_of, range(STYLES)) if not any(_alike(style, own) for own in known.values())]
    others = [name for name in names if name not in known]
    check_apart(len(names), len(known) + len(free), "lines", where, remedy)
    return known | dict(zip(others, free, strict=False))


def look_for_value(series: str, place: int) -> dict[str, Any]:
    """How a series is drawn that has a line for each value of an axis: in its colour and dash, the value by marker."""
    return look(series) | {"marker": MARKERS[place]}


def check_apart(count: int, most: int, what: str, where: str, remedy: str = FEWER) -> None:
    """Raise OutputError for more of something than can be distinguished."""
    if count > most:
        raise OutputError(f"{where}: {count} {what}: {most} can be told apart: {remedy}")


def _alike(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return all(one[key] == other[key] for key in ("color", "marker", "markerfacecolor"))
