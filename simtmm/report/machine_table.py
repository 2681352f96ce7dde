"""All machines beside one another in one table, and how sure their numbers are."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from simtmm.machine import Machine
from simtmm.machine.changed import suffix
from simtmm.machine.new import YOURS
from simtmm.model.roofline import bandwidth
from simtmm.report.text import NO_VALUE, number, table

SURE = ("definition", "user", "measured", "confirmed", "paper", "derived")
DOUBTED = ("secondhand", "config", "family", "default", "unconfirmed", "assumption")  # surest first, as in SURE
DOUBT, OF_FAMILY = "?", "~"
FITTED = "scheduling.block_launch"  # no data sheet has it: a machine's own is one that was calibrated
READ = ("memory.latency", "measured_bandwidth", "memory.l1.latency", "memory.l2.latency", "memory.l2.service")
ON_IT = ("measured", "confirmed", "derived")  # certainties
MEASURED, FROM_RELATIVES, DATA_SHEET = "measured", "from relatives", "data sheet"
BASES = {
    MEASURED: "measured: calibrated by kernels that ran on this GPU",
    FROM_RELATIVES: "from relatives: other GPUs of its family decide, except for values measured on this one: {own}",
    DATA_SHEET: "data sheet only; unvalidated: nothing was measured on this GPU, other GPUs of its family decide",
}


def basis(machine: Machine) -> str:
    """What a GPU's values come from: MEASURED, FROM_RELATIVES or DATA_SHEET; "" for one that belongs to no family.

    machine: as it ships, or changed.
    """
    if _is_own(machine, FITTED):
        return MEASURED
    if machine.family is None:
        return ""
    return FROM_RELATIVES if any(_is_own(machine, key) for key in READ) else DATA_SHEET


def basis_words(machine: Machine) -> str:
    """The same in a sentence.

    machine: as it ships, or changed.
    """
    own = ", ".join(key for key in READ if _is_own(machine, key))
    found = basis(machine)
    return BASES[found].format(own=own) if found else ""


def _is_own(machine: Machine, key: str) -> bool:
    """Whether a value was measured on this GPU, and is not a family's."""
    source = machine.sources.get(key)
    if source is None or source.source.startswith("family "):
        return False
    return source.certainty in ON_IT or source.source == YOURS["source"]


@dataclass(frozen=True)
class Quantity:
    """A column: a number of every machine, and the keys of the machine file that it comes from.

    `value` gives None for a machine that has no such number.
    """

    name: str
    header: str
    unit: str
    meaning: str
    keys: tuple[str, ...]
    value: Callable[[Machine], float | None]


def _bandwidth(machine: Machine) -> float | None:
    found = bandwidth(machine) * (machine.clock_hz or 0)
    return found if isfinite(found) and found > 0 else None


def _capacity(level: str) -> Callable[[Machine], float | None]:
    def capacity(machine: Machine) -> float | None:
        cache = getattr(machine.memory, level)
        return cache.sets * cache.ways * machine.chunk_bytes if cache else None

    return capacity


def _latency(level: str) -> Callable[[Machine], float | None]:
    def latency(machine: Machine) -> float | None:
        cache = getattr(machine.memory, level)
        return float(cache.latency) if cache else None

    return latency


QUANTITIES = (
    Quantity("groups", "groups", "core groups", "core groups", ("cores.groups",), lambda m: m.cores.groups),
    Quantity("cores", "Q", "cores", "cores of a group", ("cores.cores_per_group",), lambda m: m.cores.cores_per_group),
    Quantity("warp", "W", "threads", "threads of a warp", ("cores.warp_width",), lambda m: m.cores.warp_width),
    Quantity(
        "max_threads_per_core", "X", "threads", "threads a core may hold", ("cores.max_threads_per_core",),
        lambda m: m.cores.max_threads_per_core,
    ),
    Quantity("clock", "MHz", "Hz", "core clock", ("clock_hz",), lambda m: m.clock_hz),
    Quantity("latency", "L", "cycles", "latency of global memory", ("memory.latency",), lambda m: m.memory.latency),
    Quantity(
        "bandwidth", "GB/s", "bytes/s", "what global memory delivers in a simulation", ("memory.service",), _bandwidth
    ),
    Quantity(
        "peak_bandwidth", "peak", "bytes/s", "what the data sheet promises", ("peak_bandwidth",),
        lambda m: m.peak_bandwidth,
    ),
    Quantity("l1_capacity", "L1", "bytes", "cache of a group", ("memory.l1.sets",), _capacity("l1")),
    Quantity("l1_latency", "", "cycles", "latency of a hit in the L1", ("memory.l1.latency",), _latency("l1")),
    Quantity("l2_capacity", "L2", "bytes", "cache of all groups", ("memory.l2.sets",), _capacity("l2")),
    Quantity("l2_latency", "", "cycles", "latency of a hit in the L2", ("memory.l2.latency",), _latency("l2")),
)  # fmt: skip


def compare_machines(machines: Mapping[str, Machine]) -> Iterator[RenderableType]:
    """All machines in one table, a line each; fits 120 columns."""
    headers = ("machine", "family", *(quantity.header for quantity in QUANTITIES), "sure")
    rows = [_row(f"{name}{suffix(machine.changes)}", machine) for name, machine in machines.items()]
    yield table("", headers, rows, left=(0, 1), gap=2)
    yield ""
    yield Text(
        "Q cores in a group, W threads to a warp, X threads a core, L latency in cycles; GB/s in a simulation, and\n"
        "peak by the data sheet; caches in KiB or MiB with the cycles of a hit; sure: how many of its values were\n"
        f"read in a source or derived from one. {OF_FAMILY} marks a value from other GPUs of the family, "
        f"{DOUBT} one\nthat is quoted, from another simulator, or assumed; `machines NAME` shows each with its "
        "source."
    )


def comparison_document(machines: Mapping[str, Machine]) -> dict[str, Any]:
    """The same for JSON: quantities with unit and certainty, and how many values have which certainty."""
    return {
        name: {
            "name": machine.name,
            "family": machine.family,
            "digest": machine.digest(),
            **{
                quantity.name: {
                    "value": quantity.value(machine),
                    "unit": quantity.unit,
                    "meaning": quantity.meaning,
                    "certainty": certainty(machine, quantity.keys),
                }
                for quantity in QUANTITIES
            },
            "certainties": certainties(machine),
        }
        for name, machine in machines.items()
    }


def certainty(machine: Machine, keys: Sequence[str]) -> str | None:
    """The least sure certainty of these keys; "default" for a value without a source, None without a value.

    A value that comes from another key alone, as `service` from `peak_bandwidth`, is no surer than that one.
    """
    values = machine.values()
    sources = machine.sources
    named = [sources[key].source for key in keys if key in sources and sources[key].source in values]
    found = [sources[key].certainty if key in sources else "default" for key in (*keys, *named) if key in values]
    return max(found, key=(*SURE, *DOUBTED).index, default=None)


def certainties(machine: Machine) -> dict[str, int]:
    """How many of a machine's sourced values have which certainty, the surest first."""
    counted = Counter[str](source.certainty for source in machine.sources.values())
    return {word: counted[word] for word in (*SURE, *DOUBTED) if counted[word]}


def _row(name: str, machine: Machine) -> tuple[str, ...]:
    cells = []
    for quantity in QUANTITIES:
        value = quantity.value(machine)
        if value is None:
            cells.append(f"{NO_VALUE} ")
        else:
            sureness = certainty(machine, quantity.keys)
            mark = OF_FAMILY if sureness == "family" else DOUBT if sureness in DOUBTED else " "
            cells.append(_shown(value, quantity.unit) + mark)
    counted = certainties(machine)
    sure = sum(counted.get(word, 0) for word in SURE)
    return name, machine.family or NO_VALUE, *cells, f"{sure}/{sum(counted.values())}"


def _shown(value: float, unit: str) -> str:
    match unit:
        case "Hz":
            return f"{value / 1e6:.0f}"
        case "bytes/s":
            return number(value / 1e9)
        case "bytes":
            return f"{value / 2**20:g}M" if value >= 2**20 else f"{value / 2**10:g}K"
        case _:
            return f"{value:g}"
