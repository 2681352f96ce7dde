"""What goes on beside the warps, copies in bulk and products, for a timeline (docs/machine.md, section 7)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.engine.fast.launches.reused import Reused
from simtmm.engine.fast.layout import Parameters, Unit
from simtmm.native import inlined
from simtmm.timeline import COPIES, OF_WARP


def unit_arrays(
    reused: Reused, parameters: npt.NDArray[np.int64], stretch: int, groups: int, slots: int
) -> dict[str, Any]:
    """The state's arrays. stretch: steps of groups between two drains, about; slots: of a group."""
    if not parameters[Parameters.timeline]:
        return {"unit": reused.zeros("unit", 1, 1, len(Unit)), "units": reused.anything("units", 1, len(Unit))}
    units = 1 + int(parameters[Parameters.product_pipes])
    # At a step of a group a row of each unit is over at most, one of each port's copy, and two of each warp begin.
    rows = (stretch + 2 * groups) * (units + int(parameters[Parameters.ports]) + 2 * slots)
    return {
        "unit": reused.zeros("unit", groups, units, len(Unit)),
        "units": reused.anything("units", rows, len(Unit)),
    }


def drained(state: Any, begin: int, is_over: bool) -> npt.NDArray[np.int64]:
    """The rows so far, which are forgotten here; those still open, too, where the launch is over. begin: its tick."""
    rows: npt.NDArray[np.int64] = state.units[: state.parameters[Parameters.units]].copy()
    state.parameters[Parameters.units] = 0
    if is_over and state.parameters[Parameters.timeline]:
        rows = np.concatenate([rows, state.unit[state.unit[:, :, Unit.count] > 0]])
    if len(rows):
        in_units = rows[:, Unit.number] > OF_WARP
        rows[in_units, Unit.begin] += begin
        rows[in_units, Unit.end] += begin
    return rows


@inlined
def note_unit(s, g, w, unit, begin, end):
    """A warp's copy, or its product, keeps a unit of its group from a tick to another one."""
    if s.parameters.timeline != 0:
        note_use(s, g, unit, begin, end)
        note_role(s, w, unit)


def note_use(s, g, unit, begin, end):
    """Uses that overlap or follow at once are one row."""
    if s.unit[g, unit].count > 0 and begin > s.unit[g, unit].end:
        index = s.parameters.units
        s.parameters.units = index + 1
        for column in range(len(Unit)):
            s.units[index, column] = s.unit[g, unit, column]
        s.unit[g, unit].count = 0
    if s.unit[g, unit].count == 0:
        s.unit[g, unit].number = unit
        s.unit[g, unit].group = g
        s.unit[g, unit].begin = begin
        s.unit[g, unit].end = begin
    s.unit[g, unit].end = max(s.unit[g, unit].end, end)
    s.unit[g, unit].count += 1


def note_role(s, w, unit):
    """A row for a warp's first copy, and for its first product."""
    role = np.int64(0) if unit == COPIES else np.int64(1)
    if (s.watch[w].roles >> role) & 1 != 0:
        return
    s.watch[w].roles |= np.int64(1) << role
    index = s.parameters.units
    s.parameters.units = index + 1
    s.units[index].number = OF_WARP - role
    s.units[index].group = s.watch[w].number
    s.units[index].begin = 0
    s.units[index].end = 0
    s.units[index].count = 1
