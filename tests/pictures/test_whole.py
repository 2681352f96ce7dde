"""Pictures as a whole: each size, colour, mark, text and number of what is drawn, read back from the figures.

`python -m tests.pictures.test_whole` writes them anew (tests/golden/outputs/pictures.json), where they are to differ.
What matplotlib decides by itself, as where a legend lies, is left out: another version of it decides otherwise.
"""

import dataclasses
import json
import re
from itertools import product

import numpy as np
import pytest

pytest.importorskip("matplotlib")
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import FigureBase
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.text import Text

from simtmm import load_machine, load_trace
from simtmm.analysis.run import DEFAULT_TRACE, shipped_trace
from simtmm.model.launch.scheduling import zigzag
from simtmm.model.series import all_series
from simtmm.report.page import Table
from simtmm.report.pictures import accuracy, bars, charts, comparison, glance, paper_figure, pareto
from simtmm.report.pictures import study as studies
from simtmm.report.pictures.looks import MARKERS
from simtmm.validation.accuracy import Measured
from simtmm.validation.figures.figure import Figure, curve
from simtmm.validation.glance import CALIBRATED, FITTED, RELATIVES, Row
from tests.report.test_accuracy import POINTS, with_points
from tests.report.test_pictures import MADE, PROGRAMS, STUDY
from tests.report.test_tune import RAN, trial, tuned_of
from tests.whole import OUTPUTS

OUTPUT = OUTPUTS / "pictures.json"
DIGITS = 6  # of numbers: places are sums of inches and points, whose last digits differ from computer to computer
PARTS = [
    Measured(
        f"{group} at {at}",
        at * (2.0 + place),
        {"simulated": at * (2.2 + place), "tmm": 3.0 * at, "as printed": 2.0 * at},
        at,
        group,
    )
    for (place, group), at in product(enumerate("abcdefg"), (1.0, 8.0, 64.0))
]
AS_PRINTED = Measured("a", 2.0, {"simulated": 3.0, "as printed": 4.0})
ALIKE = [trial(192, 2000.0, registers=9), trial(224, 2500.0, registers=9)]
ROWS = [
    Row(kind, decided, ("gtx480",), points, mean, median, 0.9, None)
    for kind, decided, points, mean, median in (
        ("streaming", FITTED, 12, 0.031, 0.02), ("whole benchmarks", CALIBRATED, 1345, 0.214, 0.35),
        ("L2 and caches", RELATIVES, 8, 0.5, 0.4), ("arithmetic", CALIBRATED, 3, 0.02, 0.01),
    )
]  # fmt: skip
CURVES = [
    curve(f"{kind} {turn}", kind, {x: (3.0 + turn) * x + place for x in (1, 2, 4, 8)})
    for turn in range(3)
    for place, kind in enumerate(("simulated", "model", "fitted", "printed"))
]
TWICE = [*CURVES[:2], curve("again", "model", {1: 3.0, 2: 6.0, 4: 12.0, 8: 24.0}), CURVES[0]]
PAPER = Figure(
    "f", "A figure with a title that is so long that it is wrapped", "000", "nothing", "all", "n",
    "times as long with 2 threads a core as with 4 of them; claimed: at least 1.8", tuple(CURVES),
    shrunk="n to 8, as all other sizes take longer than a test may; 1,000 there",
)  # fmt: skip
WIDE_STUDY = Table.from_rows(
    "wide",
    [
        {"machine": "a", "n": n, "L": latency, "simulated.seconds": n * latency / 1e6 if n > 1 else None}
        for n, latency in product(range(1, 50), range(100_000_000, 100_000_003))
    ],
    ["machine", "n", "L"],
)


UNKNOWN = Table.from_rows(
    "unknown",
    [
        {"n": n, "simulated.cycles": simulated, "tmm.cycles": modelled}
        for n, simulated, modelled in ((1, 2.0, 3.0), (2, 0.0, 3.0), (3, 5.0, 0.0), (4, None, 1.0), (5, 7.0, 2.0))
    ],
    ["n"],
)
SWEPT = zigzag(load_machine("gtx280"), load_trace(shipped_trace(DEFAULT_TRACE)).info.launches[0], range(1, 300))

DRAWN = {
    **{f"compared as {kind}": (lambda kind=kind: comparison.compared(kind)(MADE)) for kind in comparison.COMPARED},
    "curves": lambda: charts.curves(
        [1, 2, 4], {"tmm": [1e-6, None, 3e-3], "other": [2e-6, 2e-6, 2e-6]}, "n", "time", "A title", "s"
    ),
    "all series": lambda: charts.curves(
        [1, 2], {name: [1.0 + place, 2.0] for place, name in enumerate(all_series())}, "n", "time"
    ),
    "many lines": lambda: charts.curves([1, 2], {f"line {place}": [1.0, 2.0 + place] for place in range(11)}, "n", "y"),
    "large numbers": lambda: charts.curves([1, 1e5], {"a": [1.0, 0.0015]}, "n", "y", log="none"),
    "small numbers": lambda: charts.curves([1, 99_999.0], {"a": [0.0, 0.00099]}, "n", "y", log="none"),
    "ratio of times": lambda: studies.picture_of(UNKNOWN, "n", values=["simulated/tmm"]),
    "ratios over n": lambda: charts.curves([1, 5, 6], {"pram": [0.5, 1.5, 1.25]}, "n", "ratio", unit="ratio"),
    "heat map of ratios": lambda: charts.heat_map(
        ["one", "a longer name"], [1, 2, 4], [[0.5, 1.0], [2.0, np.nan], [1.7, 0.9]], "x", "y", "ratio", "A", "ratio"
    ),
    "heat map of seconds": lambda: charts.heat_map([1, 2], [3], [[1e-5, 2e-3]], "x", "y", "time (s)", unit="s"),
    "where time goes": lambda: charts.stacks(
        {
            "one": {"issuing": 10, "memory": 50, "barrier": 20, "start": 5, "empty": 15},
            "nothing": dict.fromkeys(("issuing", "memory", "barrier", "start", "empty"), 0),
        },
        "Stacks",
    ),
    "bars": lambda: bars.bars({"a": 12.3456, "long name": 123456.0, "c": 999.95}, "cycles", "Bars", ["a"]),
    "accuracy of two": lambda: accuracy.picture(with_points(*POINTS)),
    "accuracy of seven": lambda: accuracy.picture(with_points(*PARTS)),
    "accuracy of points": lambda: accuracy.picture(with_points(AS_PRINTED)),
    "at a glance": lambda: glance.picture(ROWS),
    "figure of a paper": lambda: paper_figure.picture(PAPER),
    "figure over logarithms": lambda: paper_figure.picture(
        dataclasses.replace(PAPER, curves=tuple(TWICE), logarithmic="xy", shrunk="")
    ),
    "front": lambda: pareto.pareto(
        tuned_of(*RAN, *ALIKE, minimise=("cycles", "registers"))
    ),
    "front of large numbers": lambda: pareto.pareto(
        tuned_of(
            *[trial(place, 1e5 * place, registers=300_000 - 50_000 * place) for place in range(1, 4)],
            minimise=("cycles", "registers"),
        )
    ),
    "zigzag": lambda: charts.zigzag(SWEPT, "A zigzag"),
    "study": lambda: studies.picture_of(STUDY, "n", values=["simulated.seconds"], by="machine", where={"L": "10"}),
    "study as a map": lambda: studies.picture_of(STUDY, "n", "L", ["simulated.seconds"], where={"machine": "a"}),
    "study of many": lambda: studies.picture_of(WIDE_STUDY, "n", "L", ["simulated.seconds"]),
    "winners": lambda: studies.picture_of(PROGRAMS, "n", "k", ["winner"]),
}  # fmt: skip


def _number(value):
    return float(f"{float(value):.{DIGITS}g}")


def _numbers(values):
    return [_number(each) for each in np.ma.filled(np.ma.asarray(values, float), np.nan).ravel()]


def described(part):
    """A part of a figure as data, and what is in it."""
    said = {"of": type(part).__name__}
    if hasattr(part, "get_size_inches"):
        said["size"] = _numbers(part.get_size_inches())
    if hasattr(part, "get_xscale"):
        said["scales"] = [part.get_xscale(), part.get_yscale(), *_numbers([*part.get_xlim(), *part.get_ylim()])]
        said["ticks"] = [
            f"{_number(place)}: {label.get_text()}"
            for axis in (part.xaxis, part.yaxis)
            for place, label in zip(axis.get_majorticklocs(), axis.get_majorticklabels(), strict=False)
        ]
        said["labels"] = [part.get_xlabel(), part.get_ylabel()]
        said["spines"] = [name for name, spine in part.spines.items() if spine.get_visible()]
    if isinstance(part, Line2D):
        said |= {
            "x": _numbers(part.get_xdata()),
            "y": _numbers(part.get_ydata()),
            "label": re.sub("^_.*", "", str(part.get_label())),
        }
        said["look"] = [
            to_hex(part.get_color()), part.get_linestyle(), _number(part.get_linewidth()), str(part.get_marker()),
            _number(part.get_markersize()), to_hex(part.get_markerfacecolor()) if part.get_marker() in MARKERS else "",
        ]  # fmt: skip
    if isinstance(part, Patch):
        said["look"] = [to_hex(part.get_facecolor()), part.get_hatch(), _number(part.get_linewidth())]
        said["box"] = _numbers(part.get_bbox().bounds) if type(part) is Rectangle else []
    if isinstance(part, Text):
        said |= {"text": part.get_text(), "size": _number(part.get_fontsize()), "look": to_hex(part.get_color())}
        said["turned"] = _number(part.get_rotation())
    if isinstance(part, AxesImage):
        said |= {
            "values": str(_numbers(part.get_array())),
            "colours": part.get_cmap().name,
            "of": type(part.norm).__name__,
        }
        said["ends"] = _numbers(part.get_clim())
    return {**said, "order": part.get_zorder(), "alpha": part.get_alpha()}


def parts(figure):
    """All parts of a figure that are drawn, from the outside inwards."""
    figure.canvas.draw()
    found = []

    def go(part):
        if not part.get_visible() or (isinstance(part, Text) and not part.get_text()):
            return
        if isinstance(part, SHOWN):
            found.append(described(part))
        for inner in part.get_children():
            if type(inner).__name__ not in OF_MATPLOTLIB:
                go(inner)

    go(figure)
    return found


SHOWN = FigureBase, Axes, Line2D, Patch, Text, AxesImage  # others hold these together
OF_MATPLOTLIB = {
    "XAxis",
    "YAxis",
    "Spine",
    "_ColorbarSpine",
}  # ticks and what they stand on: their texts are in `ticks`


@pytest.mark.parametrize("name", DRAWN)
def test_a_picture_shows_what_it_showed(name):
    assert parts(DRAWN[name]()) == json.loads(OUTPUT.read_text(encoding="utf-8"))[name]


if __name__ == "__main__":
    document = {name: parts(made()) for name, made in DRAWN.items()}
    OUTPUT.write_text(
        "{\n"
        + ",\n".join(
            f"{json.dumps(name)}: [\n" + ",\n".join(json.dumps(part) for part in drawn) + "\n]"
            for name, drawn in document.items()
        )
        + "\n}\n",
        encoding="utf-8",
    )
