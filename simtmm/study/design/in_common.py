"""What all points of a study have in common, and how the values of its axes were chosen: for titles and scales."""

from typing import Any

from simtmm.machine.changed import suffix
from simtmm.machine.spelled import factor_of
from simtmm.study.design.axes import flattened, scale_of
from simtmm.study.design.design import MACHINE_AXIS, Design


def in_common(design: Design) -> dict[str, Any]:
    """Parameters, of a kernel those left out too, the machine if there is one, and what is changed of machines.

    A trace has no parameters here, nor a seed that was not given.
    """
    subject = design.subject
    changes = {key: "none" if value is None else value for key, value in design.changes.items()}
    kernels = {name: subject.parameter(name) for name in subject.parameters if name != "seed"}
    left_out = {name: known.default for name, known in kernels.items() if known and name not in design.axes}
    parameters = {**left_out, **flattened(design.study.parameters)}
    if len(design.machines) > 1:
        return {**parameters, **changes}
    (machine,) = design.machines.values()
    description = suffix({key: value if factor_of(value) else f"= {value}" for key, value in changes.items()})
    return {**parameters, MACHINE_AXIS: f"{machine.name}{description}"}


def scales(design: Design) -> dict[str, str]:
    """The scale, "log" or "linear", by axis; axes that are lists are not among them."""
    axes = [*flattened(design.study.axes).items()]
    axes += [entry for table in design.study.linked for entry in flattened(table).items()]
    known = {name: scale_of(given) for name, given in axes}
    return {
        **{name: scale for name, scale in known.items() if scale},
        **{entry.name: "log" if entry.log else "linear" for entry in design.spans},
    }
