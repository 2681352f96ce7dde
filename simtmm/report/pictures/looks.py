"""How series are drawn: each alike in every picture, and no two alike."""

from typing import Any

from simtmm.model import MODELS
from simtmm.model.calibrated import CALIBRATED
from simtmm.model.series import MEASURED, SIMULATED
from simtmm.report.pictures.style import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, RED, SKY, YELLOW

PALETTE = (BLUE, ORANGE, GREEN, RED, PURPLE, SKY, BLACK, YELLOW)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")

# Of the families of models, in the order of `_family`; the calibrated one is first, so that those that are added to
# MODELS change no other's look.
FAMILY_COLOURS = (SKY, GREY, BLUE, GREEN, ORANGE, RED, PURPLE, YELLOW)
FAMILY_MARKERS = ("P", "x", "o", "s", "^", "D", "v", "X")


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
    for made in (CALIBRATED, *MODELS.values()):
        families.setdefault(made.family, []).append(made.name)
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
    """The same for what is no series of a comparison, by its place among the lines."""
    return {"color": PALETTE[place % len(PALETTE)], "marker": MARKERS[place % len(MARKERS)]}
