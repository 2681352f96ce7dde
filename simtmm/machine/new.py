"""A machine from a few numbers of a data sheet, and its family for the rest."""

from collections.abc import Mapping
from typing import Any

from simtmm.errors import MachineError, shown
from simtmm.machine.family import flattened, with_family
from simtmm.machine.spec import Machine
from simtmm.machine.values import is_number

YOURS = {"source": "yours", "certainty": "user"}
TICKS = 100  # of a cycle
OF_TICKS = {"source": "hundredths of a cycle, for fractional latencies and service", "certainty": "definition"}


def new_machine(name: str, family: str, values: Mapping[str, Any], description: str = "") -> Machine:
    """A machine of that family whose values, by dotted key, are yours, and whose others are the family's.

    values: as in a machine's file, with sizes as "72MiB" for resources.shared_memory and memory.l2.size; "none" for
        what it has not, though the family has it.
    name: what the machine is called.
    family: the name of the family that it belongs to.
    description: what it is, in a sentence.

    Raises MachineError, with the key that is missing or wrong.
    """
    tables: dict[str, Any] = {"name": name, "family": family, "ticks_per_cycle": TICKS}
    if description:
        tables["description"] = description
    sources: dict[str, Any] = {"ticks_per_cycle": OF_TICKS}
    for dotted, value in values.items():
        *parents, last = dotted.split(".")
        table = tables
        for parent in parents:
            table = table.setdefault(parent, {})
            if not isinstance(table, dict):
                raise MachineError(f"machine {name}: {dotted}: {parent} is a value, not a table")
        table[last] = dict(value) if isinstance(value, Mapping) else value
        if value != "none":
            sources |= dict.fromkeys(flattened({dotted: value}), YOURS)
    origin = f"machine {name} of family {family}"
    read, peak = (values.get(key) for key in ("measured_bandwidth", "peak_bandwidth"))
    if is_number(read) and is_number(peak) and read > peak:
        raise MachineError(
            f"{origin}: measured_bandwidth = {_short(read)}: must be at most peak_bandwidth = {_short(peak)}"
        )
    filled = with_family({**tables, "sources": sources}, origin)
    memory = filled.get("memory")
    l2 = memory.get("l2") if isinstance(memory, Mapping) else None  # what else it may be is refused below
    if isinstance(l2, Mapping) and not {"sets", "size"} & l2.keys():
        raise MachineError(
            f"{origin}: memory.l2.size (--l2): is missing, and no family supplies it: give a size such as 72MiB, or "
            "none"
        )
    return Machine.from_dict(filled, origin)


def _short(number: float) -> str:
    """A number of any size, with few digits."""
    try:
        return f"{number:g}"
    except OverflowError:  # a whole one beyond all real numbers
        return shown(number)
