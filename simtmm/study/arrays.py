"""A study as an xarray.Dataset: a dimension for each axis, an array for each number of the results."""

import json
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from simtmm.errors import StudyError
from simtmm.extras import imported
from simtmm.machine import units
from simtmm.provenance import provenance
from simtmm.study.design.design import Design
from simtmm.study.design.grid import Grid
from simtmm.study.design.in_common import in_common

if TYPE_CHECKING:
    import xarray

    from simtmm.study.results import Results

TIMES = {"cycles": "cycles", "seconds": "s"}  # units, by the last word of a column


def dataset(study: "Results") -> "xarray.Dataset":
    """A study's axes and results as arrays of its grid.

    An axis is a dimension of its own name. Linked axes share a dimension, named after them all, and drawn ones share
    `sample`; their values are coordinates along it. What a name has beside letters, digits and underscores becomes an
    underscore, so that `ds.simulated_cycles.sel(memory_latency=400)` can be written; the name in full is the attribute
    `long_name`, the unit is `units`. Numbers that are not known are nan, words "".

    Raises StudyError where two names become one, and OutputError where xarray is not installed.
    """
    arrays = imported("xarray", "xarray", "to_xarray")
    design, grid = study.design, Grid(study.design)
    dimensions = _dimensions(design, grid)
    table = study.to_table()
    columns = [name for name in table.column_names if name not in ("number", *design.axes)]
    shared = [name for place, name in dimensions.items() if (name,) not in design.crossed]
    plain = _plain([*design.axes, *columns, *shared])
    names = {place: plain[name] for place, name in dimensions.items()}
    shape = [grid.shape[place] for place in dimensions]
    coordinates = {}
    for name in design.axes:
        place, values = grid.axes[name]
        coordinates[plain[name]] = (names[place], list(values), _about(name))
    variables = {}
    for name in columns:
        column = table[name]
        words = column.type == "string"
        numbers = (column.fill_null("") if words else column).to_numpy().reshape(shape)
        variables[plain[name]] = (list(names.values()), numbers.astype(str) if words else numbers, _about(name))
    about = {
        "program": design.subject.name,
        "fixed": json.dumps(in_common(design), default=str),
        "provenance": json.dumps({**provenance(), "program": design.subject.digest}),
    }
    dataset: xarray.Dataset = arrays.Dataset(variables, coordinates, about)
    return dataset


def _dimensions(design: Design, grid: Grid) -> dict[int, str]:
    """The name of each dimension of the grid along which an axis of the study lies."""
    along: dict[int, list[str]] = {}
    for name in design.axes:
        along.setdefault(grid.axes[name][0], []).append(name)
    return {
        place: "sample" if along[place][0] in design.sampled else "_and_".join(along[place]) for place in sorted(along)
    }


def _plain(names: Iterable[str]) -> dict[str, str]:
    """Each name as an identifier."""
    identifiers: dict[str, str] = {}
    for name in names:
        plain = re.sub(r"\W", "_", name)
        same = next((other for other, known in identifiers.items() if known == plain), None)
        if same is not None:
            raise StudyError(f"to_xarray: {same} and {name}: would both be {plain}")
        identifiers[name] = plain
    return identifiers


def _about(name: str) -> dict[str, Any]:
    unit = units().get(name, ("", ""))[0] or TIMES.get(name.rpartition(".")[2], "")
    return {"long_name": name, **({"units": unit} if unit else {})}
