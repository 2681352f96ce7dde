"""Names of points in a picture, placed so that none lies on another, on a point, or beyond the axes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation

SIZE = 6.5  # points: of a name
MOST = 500  # names that are tried: more than these find no room on a page
AWAY = 4.5  # points: from the middle of a marker to the name
AROUND = 3.0  # points: half of a marker
# Where a name may be, the better first: across and up from its point, as signs.
SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
ANCHORS = {1: ("left", "bottom"), 0: ("center", "center"), -1: ("right", "top")}

Place = tuple[float, float]


def name_points(figure: "Figure", axes: "Axes", named: Sequence[tuple[str, Sequence[Place]]]) -> int:
    """Write names beside points, and below the axes how many found no room, which are returned.

    named: each name with the points that it may stand at, the better first. To be called when all else is drawn.
    """
    title = axes.get_xlabel()
    sizes = [_size(axes, name) for name, _ in named[:MOST]]
    written: list[Annotation] = []
    left_out = 0
    for _ in range(3):  # to tell of what is left out takes room
        for annotation in written:
            annotation.remove()
        figure.draw_without_rendering()  # lays it out
        written = _written(figure, axes, named, sizes)
        if left_out == len(named) - len(written):
            break
        left_out = len(named) - len(written)
        axes.set_xlabel(
            title + (f"\n{left_out:,} of {len(named):,} points have no room for a name" if left_out else "")
        )
    return len(named) - len(written)


def _size(axes: "Axes", name: str) -> tuple[float, float]:
    """Width and height of a name, in pixels."""
    text = axes.text(0, 0, name, fontsize=SIZE, parse_math=False)
    box = text.get_window_extent()
    text.remove()
    return box.width, box.height


def _written(
    figure: "Figure",
    axes: "Axes",
    named: Sequence[tuple[str, Sequence[Place]]],
    sizes: Sequence[tuple[float, float]],
) -> "list[Annotation]":
    pixel = figure.dpi / 72
    inside = axes.get_window_extent()
    points = np.concatenate([axes.transData.transform(np.array(places)) for _, places in named])
    around = AROUND * pixel
    taken = np.empty((len(points) + min(len(named), MOST), 4))  # x0, y0, x1, y1 of points, then of names
    taken[: len(points)] = np.column_stack([points - around, points + around])
    written: list[Annotation] = []
    for (name, places), (width, height) in zip(named, sizes, strict=False):
        found = None
        for place, (x, y) in zip(places, axes.transData.transform(np.array(places)), strict=True):
            for across, up in SIDES:
                away = AWAY * pixel * (0.75 if across and up else 1)
                left = x + across * away - width * (1 - across) / 2
                low = y + up * away - height * (1 - up) / 2
                own = np.array([left, low, left + width, low + height])
                if _fits(own, inside.extents) and not _touches(own, taken[: len(points) + len(written)]):
                    found = place, across, up, away / pixel, own
                    break
            if found:
                break
        if found is None:
            continue
        at, across, up, offset, own = found
        annotation = axes.annotate(
            name,
            at,
            (across * offset, up * offset),
            textcoords="offset points",
            ha=ANCHORS[across][0],
            va=ANCHORS[up][1],
            fontsize=SIZE,
            parse_math=False,
            annotation_clip=False,
        )
        annotation.set_in_layout(False)
        taken[len(points) + len(written)] = own
        written.append(annotation)
    return written


def _fits(box: "np.ndarray[tuple[int], np.dtype[np.float64]]", inside: Sequence[float]) -> bool:
    return bool(box[0] >= inside[0] and box[1] >= inside[1] and box[2] <= inside[2] and box[3] <= inside[3])


def _touches(
    box: "np.ndarray[tuple[int], np.dtype[np.float64]]", boxes: "np.ndarray[tuple[int, int], np.dtype[np.float64]]"
) -> bool:
    return bool(
        np.any((box[0] < boxes[:, 2]) & (box[2] > boxes[:, 0]) & (box[1] < boxes[:, 3]) & (box[3] > boxes[:, 1]))
    )
