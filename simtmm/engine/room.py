"""Whether what an engine keeps of a machine fits in memory, told before any of it is made."""

from collections.abc import Mapping

from simtmm.computer import available_memory
from simtmm.errors import EngineError
from simtmm.machine import Machine


def refuse_without_room(machine: Machine, origin: str, state: Mapping[str, int]) -> None:
    """Refuse a machine whose state does not fit in memory, the key named that takes most of it.

    origin: of the workload, for the message. state: bytes of the machine's state, by the key that makes it large.
    Raises EngineError.
    """
    needed, available = sum(state.values()), available_memory()
    if needed <= available:
        return
    key = max(state, key=lambda each: state[each])
    raise EngineError(
        f"{origin} on {machine.name}: {key} = {machine.values()[key]}: the machine's state takes "
        f"{needed / 2**30:,.1f} GiB of memory, which has room for {available / 2**30:,.1f} GiB: must be smaller"
    )
