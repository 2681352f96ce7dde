"""What goes on beside the warps, copies in bulk and products, for a timeline (docs/machine.md, section 7)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.engine.fast.launches.reused import Reused
from simtmm.engine.fast.layout import (
    P_PORTS,
    P_PRODUCT_PIPES,
    P_TIMELINE,
    R_UNITS,
    UNIT_BEGIN,
    UNIT_COUNT,
    UNIT_END,
    UNIT_GROUP,
    UNIT_NUMBER,
    UNIT_ROW,
    WATCH_NUMBER,
    WATCH_ROLES,
)
from simtmm.native import inlined
from simtmm.timeline import COPIES, OF_WARP


def unit_arrays(
    reused: Reused, parameters: npt.NDArray[np.int64], stretch: int, groups: int, slots: int
) -> dict[str, Any]:
    """The state's arrays. stretch: steps of groups between two drains, about; slots: of a group."""
    if not parameters[P_TIMELINE]:
        return {"unit": reused.zeros("unit", 1, 1, UNIT_ROW), "units": reused.anything("units", 1, UNIT_ROW)}
    units = 1 + int(parameters[P_PRODUCT_PIPES])
    # At a step of a group a row of each unit is over at most, one of each port's copy, and two of each warp begin.
    rows = (stretch + 2 * groups) * (units + int(parameters[P_PORTS]) + 2 * slots)
    return {
        "unit": reused.zeros("unit", groups, units, UNIT_ROW),
        "units": reused.anything("units", rows, UNIT_ROW),
    }


def drained(state: Any, begin: int, is_over: bool) -> npt.NDArray[np.int64]:
    """The rows so far, which are forgotten here; those still open, too, where the launch is over. begin: its tick."""
    rows: npt.NDArray[np.int64] = state.units[: state.parameters[R_UNITS]].copy()
    state.parameters[R_UNITS] = 0
    if is_over and state.parameters[P_TIMELINE]:
        rows = np.concatenate([rows, state.unit[state.unit[:, :, UNIT_COUNT] > 0]])
    if len(rows):
        in_units = rows[:, UNIT_NUMBER] > OF_WARP
        rows[in_units, UNIT_BEGIN] += begin
        rows[in_units, UNIT_END] += begin
    return rows


@inlined
def note_unit(s, g, w, unit, begin, end):
    """A warp's copy, or its product, keeps a unit of its group from a tick to another one."""
    if s.parameters[P_TIMELINE] != 0:
        note_use(s, g, unit, begin, end)
        note_role(s, w, unit)


def note_use(s, g, unit, begin, end):
    """Uses that overlap or follow at once are one row."""
    if s.unit[g, unit, UNIT_COUNT] > 0 and begin > s.unit[g, unit, UNIT_END]:
        index = s.parameters[R_UNITS]
        s.parameters[R_UNITS] = index + 1
        for column in range(UNIT_ROW):
            s.units[index, column] = s.unit[g, unit, column]
        s.unit[g, unit, UNIT_COUNT] = 0
    if s.unit[g, unit, UNIT_COUNT] == 0:
        s.unit[g, unit, UNIT_NUMBER] = unit
        s.unit[g, unit, UNIT_GROUP] = g
        s.unit[g, unit, UNIT_BEGIN] = begin
        s.unit[g, unit, UNIT_END] = begin
    s.unit[g, unit, UNIT_END] = max(s.unit[g, unit, UNIT_END], end)
    s.unit[g, unit, UNIT_COUNT] += 1


def note_role(s, w, unit):
    """A row for a warp's first copy, and for its first product."""
    role = np.int64(0) if unit == COPIES else np.int64(1)
    if (s.watch[w, WATCH_ROLES] >> role) & 1 != 0:
        return
    s.watch[w, WATCH_ROLES] |= np.int64(1) << role
    index = s.parameters[R_UNITS]
    s.parameters[R_UNITS] = index + 1
    s.units[index, UNIT_NUMBER] = OF_WARP - role
    s.units[index, UNIT_GROUP] = s.watch[w, WATCH_NUMBER]
    s.units[index, UNIT_BEGIN] = 0
    s.units[index, UNIT_END] = 0
    s.units[index, UNIT_COUNT] = 1
