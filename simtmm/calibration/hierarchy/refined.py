"""A calibration, with what a joint fit adds."""

from dataclasses import replace

from simtmm.calibration.hierarchy.together import Joint
from simtmm.calibration.values import Calibration, with_sources, with_values


def refined(found: Calibration, joint: Joint) -> Calibration:
    """The calibration with values that a joint fit determines.

    found: what the other measurements gave, whose machine the fit was given.
    joint: what the fit found.
    """
    keys = {value.key for value in joint.values}
    values = [*(value for value in found.values if value.key not in keys), *joint.values]
    machine = with_values(found.machine, joint.values).model_copy(update={"name": found.machine.name})
    return replace(
        found,
        machine=with_sources(machine, found.machine, values),
        values=tuple(values),
        curve=joint.curve if joint.curve is not None else found.curve,
        notes=(*found.notes, *joint.notes),
        sets=joint.sets,
    )
