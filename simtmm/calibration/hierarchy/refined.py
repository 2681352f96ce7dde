"""A calibration, refined by measurements of the hierarchy."""

from collections.abc import Sequence
from dataclasses import replace

from simtmm.calibration.hierarchy.joint import fit_hierarchy
from simtmm.calibration.hierarchy.measured import MeasuredSet
from simtmm.calibration.streams.occupancy_curve import StreamPoint, occupancy_curve
from simtmm.calibration.values import Calibration, with_sources, with_values
from simtmm.machine import Machine
from simtmm.watch import Watch

WORSE = 0.002  # of the mean error of streams, beyond which values that they feel are not taken
FELT_BY_STREAMS = "memory."


def refined(
    found: Calibration,
    base: Machine,
    measured: Sequence[MeasuredSet],
    stream: Sequence[StreamPoint] = (),
    watch: Watch | None = None,
) -> Calibration:
    """The calibration with values that measurements of the hierarchy determine.

    found: what the other measurements gave; the base itself where there are none.
    base: what the machine was before, whose sources stay.
    measured: sets of rows, one of a kind at most.
    stream: bandwidth over occupancy, which must not become worse by it.
    watch: called as things go on.
    """
    joint = fit_hierarchy(found.machine, measured, watch)
    values, notes, curve = list(joint.values), list(joint.notes), found.curve
    if curve is not None and any(value.key.startswith(FELT_BY_STREAMS) for value in values):
        after = occupancy_curve(with_values(found.machine, values), stream, watch=watch)
        if after.mean_error() > curve.mean_error() + WORSE:
            left = [value.key for value in values if value.key.startswith(FELT_BY_STREAMS)]
            values = [value for value in values if value.key not in left]
            notes.append(
                f"{', '.join(left)}: streams over occupancy would be off by {after.mean_error():.1%} for "
                f"{curve.mean_error():.1%}: left as before"
            )
        else:
            curve = after
    machine = with_values(found.machine, values).model_copy(update={"name": found.machine.name})
    before = found.machine if found.values else base
    return replace(
        found,
        machine=with_sources(machine, before, [*found.values, *values]),
        values=(*(value for value in found.values if value.key not in {new.key for new in values}), *values),
        curve=curve,
        notes=(*found.notes, *notes),
        sets=joint.sets,
    )
