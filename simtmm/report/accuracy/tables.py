"""Accuracy as a person reads it: on a terminal, as the page docs/accuracy.md, and as CSV."""

import csv
import io
from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from simtmm.model.series import SIMULATED, label
from simtmm.report.accuracy.glance import DECISIONS, PICTURE, TEXT, at_a_glance
from simtmm.report.text import NO_VALUE, number, table
from simtmm.validation.accuracy import Accuracy, Errors
from simtmm.validation.snapshot import Kept, broken_promises

LISTED = 15  # points that the page lists; more are in the CSV file and the picture
FOLDER = "accuracy"  # of pictures and data, beside the page

_ERRORS = ("", "points", "mean error", "median", "largest", "at", "bias", "rank correlation", "limit")
_PAGE = """\
Where it is far off, and why, stands in [what-fails.md](what-fails.md).

## All tables

This page compares the simulation and the models with measurements on real machines. Where no measured values are
available, a table compares with something else: a line that was fitted to measurements, a number that a text states of
a measured curve, or a closed form. The column *beside* below, the table's columns, its CSV file and its picture say
which. `simtmm paper reproduce -o {folder}` recomputes everything and writes this page, except what needs NVIDIA's
compilers: `simtmm paper reproduce h100-compiled ablation -o {folder}`, in minutes, and convolution-counters, in half an
hour. `simtmm paper reproduce --check -o {folder}` recomputes it and names each figure that differs, or is worse than
promised.

The *error* of a point is said / measured - 1, with the table's reference in place of measured where nothing was. Mean
and median are of its size; the largest error and the bias, which is the mean, have a sign: below 0 the prediction is
too low. The rank correlation is Spearman's: does the series put the points in the right order? The models' constants
are 1, so their rank correlations say more about them than their errors do.

A *limit* is neither an aim nor a derived bound: it is the mean error that a table had when its limit was set, rounded
up, so that tests notice when a change makes it worse. A few limits have their own reasons: 1 % on peaks over blocks (a
peak is met or not), 3 % on a barrel's closed form (which leaves out how a loop begins and ends), and the project's aims
in tests/test_accuracy.py (2.5 % on the read kernel over occupancy, 6 % on all six; on GPUs never calibrated 10 % for
NVIDIA's and 18 % for AMD's). *Calibrated* in each table says what was fitted, and on what; where points of a table were
fitted, the error over them is not a prediction. docs/what-fails.md lists what is far off, and the known causes.
"""


def percent(value: float | None, sign: bool = False) -> str:
    """2.3 %, 0.45 %, 1,234 %; with a sign, +2.3 %."""
    if value is None:
        return NO_VALUE
    size = abs(100 * value)
    digits = 0 if size >= 99.95 or size == 0 else 1 if size >= 0.95 else 2
    return f"{100 * value:{'+' if sign and value else ''},.{digits}f} %"


def describe_accuracy(tables: Sequence[Accuracy]) -> Iterator[RenderableType]:
    """Of each table the errors of the series, and those of the groups."""
    for place, accuracy in enumerate(tables):
        if place:
            yield ""
        yield Text(f"{accuracy.name}: {accuracy.title}", style="bold")
        yield Text(f"{_in_units(accuracy)}, on {accuracy.machine}; {accuracy.reference}: {accuracy.origin}")
        yield ""
        yield table("", *_all_errors(accuracy), left=(0, 5))
        if len(accuracy.groups) > 1:
            yield ""
            yield table("", *_errors_of_groups(accuracy))
        yield from (Text(line) for line in broken_promises(accuracy))


def describe_check(found: Sequence[str], tables: Sequence[Accuracy], folder: str) -> Iterator[RenderableType]:
    """What differs, a line each; or that nothing does."""
    yield from (Text(line) for line in found)
    points = sum(len(accuracy.points) for accuracy in tables)
    what = f"{points:,} points of {len(tables)} table{'s' * (len(tables) != 1)}"
    if found:
        yield Text(f"{len(found)} difference{'s' * (len(found) != 1)} between {folder} and recomputed {what}")
    else:
        yield Text(f"recomputed {what} equal those in {folder}, and none is worse than promised")


def page(tables: Sequence[Kept], folder: str) -> str:
    """The page in Markdown, from the stored tables, in their order. folder: the name of where it lies."""
    errors, calls = at_a_glance([kept.accuracy for kept in tables])
    parts = ["# Accuracy\n"]
    if errors[1]:
        parts += [TEXT, f"![Mean errors by kind of kernel, what was fitted in grey]({FOLDER}/{PICTURE}.png)\n"]
        parts.append(_markdown(*errors, left=(0, 1, 2, 7)))
    if calls[1]:
        parts += [DECISIONS, _markdown(*calls, left=(0,))]
    parts += [_PAGE.format(folder=folder), _markdown(*_overview(tables), left=(0, 1, 2))]
    cited: set[tuple[str, str]] = set()
    for kept in tables:
        notes = [note for note in kept.accuracy.notes if (kept.reproduction, note) not in cited]
        cited |= {(kept.reproduction, note) for note in notes}  # tables of one origin mostly share them
        parts += [_section(kept, folder), *(f"{note}\n" for note in notes)]
    return "\n".join(parts)


def accuracy_csv(accuracy: Accuracy) -> str:
    """A row a point: case, group, at, unit, what was measured or stands in its place, and what each series says."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["case", "group", "at", "unit", accuracy.reference, *accuracy.series])
    for point in accuracy.points:
        values = [point.measured, *(point.said.get(series) for series in accuracy.series)]
        at = "" if point.at is None else f"{point.at:.9g}"
        cells = ("" if value is None else f"{value:.9g}" for value in values)
        writer.writerow([point.case, point.group, at, accuracy.unit, *cells])
    return text.getvalue()


def _section(kept: Kept, folder: str) -> str:
    accuracy = kept.accuracy
    link = f"{FOLDER}/{accuracy.name}"
    facts = {
        "Machine": ", ".join(f"`{name}`" for name in accuracy.machine.split(", ")),
        accuracy.reference.capitalize(): accuracy.origin,
        "Calibrated": accuracy.calibrated,
        "Values": _in_units(accuracy)
        + (f", along {accuracy.along}" if accuracy.along else "")
        + f"; [each point]({link}.csv), [with provenance]({link}.json)",
        "Made by": f"`simtmm paper reproduce {kept.reproduction} -o {folder}`, simtmm {kept.provenance.get('simtmm')}",
    }
    parts = [f"## {accuracy.title}\n", "\n".join(f"- {key}: {_sentence(fact)}" for key, fact in facts.items()) + "\n"]
    parts.append(f"![{accuracy.title}: {accuracy.reference}, simulated and modelled]({link}.png)\n")
    parts.append(_markdown(*_all_errors(accuracy), left=(0, 5)))
    if len(accuracy.groups) > 1:
        parts.append(_markdown(*_errors_of_groups(accuracy)))
    if len(accuracy.points) <= LISTED:
        parts.append(_markdown(*_points(accuracy)))
    return "\n".join(parts)


def _overview(tables: Sequence[Kept]) -> tuple[Sequence[str], list[list[str]]]:
    headings = ("mean error, simulated", "limit", "largest", "rank correlation", "best of the others")
    rows = []
    for accuracy in (kept.accuracy for kept in tables):
        others = [accuracy.errors(series) for series in accuracy.series if series != SIMULATED]
        best = min(others, key=lambda errors: errors.mean, default=None)
        own = accuracy.errors(SIMULATED) if SIMULATED in accuracy.series else None
        rows.append(
            [
                f"[{accuracy.title}](#{_anchor(accuracy.title)})",
                accuracy.machine,
                accuracy.reference,
                str(len(accuracy.points)),
                percent(own.mean) if own else NO_VALUE,
                percent(accuracy.promised.get(SIMULATED)),
                percent(own.largest, sign=True) if own else NO_VALUE,
                _rank(own),
                f"{percent(best.mean)}, {label(best.series)}" if best else NO_VALUE,
            ]
        )
    return ("", "machine", "beside", "points", *headings), rows


def _all_errors(accuracy: Accuracy) -> tuple[Sequence[str], list[list[str]]]:
    rows = []
    for errors in map(accuracy.errors, accuracy.series):
        promised = percent(accuracy.promised.get(errors.series))
        cells = [percent(errors.mean), percent(errors.median), percent(errors.largest, sign=True), errors.worst]
        bias = percent(errors.bias, sign=True)
        rows.append([label(errors.series), str(errors.points), *cells, bias, _rank(errors), promised])
    return _ERRORS, rows


def _errors_of_groups(accuracy: Accuracy) -> tuple[Sequence[str], list[list[str]]]:
    """A row a group: all of the first series, the simulated one where there is one, and the means of the others."""
    first, *others = accuracy.series
    columns = ["", "points", f"mean error, {label(first)}", "median", "largest", "rank correlation"]
    rows = []
    for group in accuracy.groups:
        errors = _of(accuracy, first, group)
        cells = [NO_VALUE] * 3
        if errors:
            cells = [percent(errors.mean), percent(errors.median), percent(errors.largest, sign=True)]
        means = [of.mean if (of := _of(accuracy, series, group)) else None for series in others]
        points = sum(point.group == group for point in accuracy.points)
        rows.append([group, str(points), *cells, _rank(errors), *map(percent, means)])
    return [*columns, *(f"mean, {label(series)}" for series in others)], rows


def _points(accuracy: Accuracy) -> tuple[Sequence[str], list[list[str]]]:
    columns = ["", f"{accuracy.reference} ({accuracy.unit})", *map(label, accuracy.series)]
    rows = []
    for point in accuracy.points:
        values = [point.said.get(series) for series in accuracy.series]
        case = point.case if point.group in point.case else f"{point.group}, {point.case}"
        rows.append([case, _digits(point.measured), *(NO_VALUE if one is None else _digits(one) for one in values)])
    return columns, rows


def _of(accuracy: Accuracy, series: str, group: str) -> Errors | None:
    """The series' errors in a group, where it says something of it."""
    there = any(point.group == group and series in point.said for point in accuracy.points)
    return accuracy.errors(series, group) if there else None


def _rank(errors: Errors | None) -> str:
    return NO_VALUE if errors is None or errors.spearman is None else f"{errors.spearman:.3f}"


def _digits(value: float) -> str:
    """Four digits: what a page can bear, and enough to tell a per mille."""
    return number(value) if abs(value) >= 1000 else f"{value:.4g}"


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _anchor(title: str) -> str:
    """The link's name that GitHub and others make of a heading."""
    kept = [character for character in title.lower() if character.isalnum() or character in " -_"]
    return "".join(kept).replace(" ", "-")


def _markdown(columns: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[int] = (0,)) -> str:
    rules = ["---" if place in left else "---:" for place in range(len(columns))]
    lines = [[cell.replace("|", "\\|") for cell in line] for line in [columns, rules, *rows]]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _in_units(accuracy: Accuracy) -> str:
    """What is measured, and in what, where that has a unit."""
    return f"{accuracy.quantity} in {accuracy.unit}" if accuracy.unit else accuracy.quantity
