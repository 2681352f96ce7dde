"""`memory.bandwidth`: bytes a second of global memory, as a key that the cycles of a chunk follow.

A machine is simulated by `memory.service`, the cycles for which a chunk takes its partition; with it alone, twice the
chunk is twice the bandwidth. Where a bandwidth is given, service is what the chunk, the partitions and the clock make
of it, and so is `memory.atomic_service` where it is the same.
"""

from collections.abc import Mapping
from typing import Any

from simtmm.errors import MachineError, shown
from simtmm.machine.values import is_number

BANDWIDTH, SERVICE, ATOMIC_SERVICE = "memory.bandwidth", "memory.service", "memory.atomic_service"
FOLLOWS: dict[str, Any] = {"source": BANDWIDTH, "certainty": "derived"}  # where such a service comes from
SAME = 1e-9  # relative: a number that has been written and read


def with_service(tables: Mapping[str, Any], origin: str) -> dict[str, Any]:
    """Nested tables of a machine with the service that follows from its bandwidth, if it has one.

    Raises MachineError where that needs a clock, and where a service is given that is another.
    """
    copy, memory = dict(tables), tables.get("memory")
    if not isinstance(memory, Mapping) or memory.get("bandwidth") is None:
        return copy
    moved = _bytes_a_cycle(copy)
    if not _is_positive(memory["bandwidth"]) or moved is None:
        if copy.get("clock_hz") is None:
            raise MachineError(
                f"{origin}: {BANDWIDTH} = {shown(memory['bandwidth'])}: needs clock_hz, or give {SERVICE}"
            )
        return copy  # the check of the key that is wrong reports it
    service = moved / memory["bandwidth"]
    given = memory.get("service")
    if is_number(given) and abs(given - service) > SAME * service:
        raise MachineError(
            f"{origin}: {SERVICE} = {shown(given)}: follows from {BANDWIDTH}, as {service:.6g}; give one of them"
        )
    return {**copy, "memory": {"atomic_service": service, **memory, "service": service}}


def without_service(tables: dict[str, Any]) -> None:
    """Take away what is to follow from the bandwidth, for the better if chunk, partitions or clock have changed."""
    memory = tables["memory"]
    service = memory.pop("service", None)
    if memory.get("atomic_service") == service:
        memory.pop("atomic_service", None)


def effective_bandwidth(tables: Mapping[str, Any]) -> float | None:
    """The bandwidth of a machine by its service; None where that is not limited, or where there is no clock."""
    service, moved = tables.get("memory", {}).get("service"), _bytes_a_cycle(tables)
    return moved / service if moved and is_number(service) and service > 0 else None


def _bytes_a_cycle(tables: Mapping[str, Any]) -> float | None:
    """Bytes of a chunk of every partition, times the clock: over service, the bandwidth."""
    memory = tables["memory"]
    numbers = [
        tables.get("clock_hz"), memory.get("chunk_words"), memory.get("word_bytes", 4), memory.get("partitions", 1),
    ]  # fmt: skip
    if not all(map(_is_positive, numbers)):
        return None
    clock, words, word, partitions = map(float, numbers)
    return clock * words * word * partitions


def _is_positive(value: object) -> bool:
    """Whether it is a number above 0 that a floating-point number holds."""
    try:
        return is_number(value) and 0 < float(value) < float("inf")
    except OverflowError:
        return False
