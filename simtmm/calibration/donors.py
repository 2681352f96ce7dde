"""Values of calibrated GPUs for others of their family: the values of machines/families.

A donor gives what was fitted on it alone, not what its own file takes from a family. What several give is their mean;
of what scales with a clock or a bandwidth (simtmm.machine.family), the geometric mean.

How much of a data sheet's bandwidth is reached needs no calibration: one read of large arrays tells it. Where the
data sheets of a maker promise each in another measure, more GPUs tell more than the few that are calibrated: a family
names those under `reads`.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from simtmm.errors import StudyError
from simtmm.machine import Machine, load_machine
from simtmm.machine.family import MAY_BE_0, completed, load_family
from simtmm.measurement.stream_operations import ELEMENT_BYTES

# What a calibration finds and a GPU that was never calibrated can have from another one: core cycles, and chunks
DONATED = (
    "scheduling.block_launch",
    "scheduling.warp_launch",
    "memory.store_latency",
    "memory.return_delay",
    "memory.return_interval",
    "memory.store_interval",
    "memory.store_buffer",
)
# What follows by a family's rules, of a clock and a bandwidth
BY_RULES = (
    "memory.partitions",
    "memory.service",
    "memory.atomic_service",
    "memory.turnaround",
    "memory.fetch_interval",
)
# What no fit gives: rules, and what follows from them
MEASURED_RULES = (
    "l2_load_bytes", "l2_store_bytes", "l2_far_bytes", "l2_request_share", "launch_seconds", "graph_launch_seconds",
    "dispatch_cycles",
)  # fmt: skip
BY_MEASURED_RULES = (
    "memory.l2.service",
    "memory.l2.store_service",
    "memory.l2.far_service",
    "memory.l2.request_service",
    "scheduling.launch_overhead",
    "scheduling.graph_launch_overhead",
    "scheduling.block_interval",
)
CALIBRATED = "by simtmm machines calibrate"  # what the sources of a calibrated machine's values begin with
BLOCK, WARP = DONATED[:2]
EFFICIENCY, READ_EFFICIENCY = "efficiency", "read_efficiency"
APART = 2.0  # the bandwidth at which warps can be started over the measured one, at least, to be separable
ROTATED = "rotated"  # memory.interleave
DIGITS = 4  # significant, of what several donors give


def is_calibrated(machine: Machine) -> bool:
    """Whether the machine's streams were fitted to measurements of its own."""
    return _fitted(machine, "memory.service")


def donors_of(machine: Machine, calibrated: Iterable[Machine]) -> tuple[Machine, ...]:
    """The calibrated machines, this one apart, of the nearest family that has such. Raises StudyError without any."""
    if machine.family is None:
        raise StudyError(f"machine {machine.name}: has no family")
    others = [each for each in calibrated if each.name != machine.name and each.family is not None]
    chains = {each.name: load_family(each.family).chain for each in others if each.family}
    for family in load_family(machine.family).chain:
        found = tuple(each for each in others if family in chains[each.name])
        if found:
            return found
    raise StudyError(f"machine {machine.name}: no other machine of its families is calibrated")


def readers_of(machine: Machine) -> tuple[Machine, ...]:
    """The machines, this one apart, whose reads the nearest of its families with such goes by; none where none does."""
    for name in load_family(machine.family).chain if machine.family else ():
        found = tuple(each for each in map(load_machine, load_family(name).reads) if each.name != machine.name)
        if found:
            return found
    return ()


def donated(
    donors: Sequence[Machine], rules: Iterable[str], readers: Sequence[Machine] = (), *, rotates: bool = False
) -> tuple[dict[str, float], dict[str, float]]:
    """What these donors give together: values by key, and those of the rules named.

    readers: machines whose measured read says how much of a data sheet's bandwidth is reached; if none, donors do.
    rotates: whether they give it to a machine whose chunks rotate over its partitions.
    """
    values = {}
    overheads = [_overheads(each) for each in donors]
    for key in DONATED:
        own = [each[key] for each in overheads if key in each]
        if own:
            values[key] = _rounded(fmean(own))
    given = [_ruled(each, rotates) for each in donors]
    means = {}
    for rule in rules:
        numbers = [each[rule] for each in given if each.get(rule)]
        if numbers:
            means[rule] = _rounded(_geometric(numbers))
        elif rule in MAY_BE_0 and given:
            means[rule] = 0.0
        elif rule == READ_EFFICIENCY:  # no donor determines it: what was measured is what can be moved
            means[rule] = 1.0
    shares = [read / peak for each in readers if (read := each.measured_bandwidth) and (peak := each.peak_bandwidth)]
    if shares and EFFICIENCY in means and READ_EFFICIENCY in means:
        means[EFFICIENCY] = _rounded(_geometric(shares) * means[READ_EFFICIENCY])
    return values, means


def left_out(machine: Machine, calibrated: Iterable[Machine], *, measured: bool) -> tuple[Machine, tuple[Machine, ...]]:
    """The machine as its profile would be had it never been calibrated, and the donors that it has the rest from.

    measured: whether a pointer chase on it and the bandwidth of one read of large arrays are known; without them L
        and bandwidth come from the data sheet by the family's rules.
    calibrated: machines that were calibrated, the machine itself among them or not.

    Raises StudyError where the machine has no family, or no other one of its families is calibrated.
    """
    donors = donors_of(machine, calibrated)
    family = load_family(machine.family or "")
    rotates = machine.memory.interleave == ROTATED
    values, means = donated(donors, family.rules, readers_of(machine), rotates=rotates)
    family.values |= values
    family.rules |= means
    for rule in MEASURED_RULES:  # a family has them from GPUs of its own, this one perhaps among them
        family.rules.pop(rule, None)
    lacking = {*DONATED, *BY_RULES, *BY_MEASURED_RULES, *(() if measured else ("memory.latency", "measured_bandwidth"))}
    tables: dict[str, Any] = machine.to_dict()
    tables["sources"] = {key: source for key, source in tables["sources"].items() if key not in lacking}
    for key in lacking:
        *parents, last = key.split(".")
        table = tables
        for parent in parents:
            table = table.get(parent, {})
        table.pop(last, None)
    return Machine.from_dict(completed(tables, family), f"machine {machine.name}"), donors


def _fitted(machine: Machine, key: str) -> bool:
    """Whether a value was fitted on the machine."""
    source = machine.sources.get(key)
    return source is not None and source.certainty == "derived" and source.note.startswith(CALIBRATED)


def _overheads(machine: Machine) -> dict[str, float]:
    """What was fitted on the machine of the values that it can give.

    Where starting warps takes so long that by itself it holds reads down to the bandwidth that was measured, the fit
    can't tell one from the other, and a GPU of another bandwidth would be held to this one's: then what is too long
    counts as the block's.
    """
    found = {key: float(machine.values()[key]) for key in DONATED if _fitted(machine, key)}
    most = _longest_start(machine)
    if {BLOCK, WARP} <= found.keys() and found[WARP] > most:
        found |= {WARP: most, BLOCK: found[BLOCK] + found[WARP] - most}
    return found


def _longest_start(machine: Machine) -> float:
    """Cycles for starting a warp, at most, that let reads pass at APART times the bandwidth that was measured."""
    if machine.measured_bandwidth is None or machine.clock_hz is None:
        return math.inf
    loaded = machine.cores.groups * machine.cores.warp_width * ELEMENT_BYTES  # by a warp of each group
    return loaded * machine.clock_hz / (APART * machine.measured_bandwidth)


def _ruled(machine: Machine, rotates: bool) -> Mapping[str, float]:
    """What a calibrated machine gives for each rule.

    Hashed partitions are never all busy, so that a fit finds them quicker than what was measured of them together. Of
    a machine whose chunks rotate they are: it gets what was measured.
    """
    memory, clock = machine.memory, machine.clock_hz
    if clock is None or memory.service == 0:
        return {}
    moved = machine.chunk_bytes / memory.service * clock * memory.partitions
    if rotates and memory.interleave != ROTATED and machine.measured_bandwidth:
        moved = min(moved, machine.measured_bandwidth)
    each = moved / memory.partitions
    has_values = machine.measured_bandwidth and machine.scheduling.warp_launch <= _longest_start(machine)
    return {
        "latency_seconds": memory.latency / clock,
        "partition_bandwidth": each,
        EFFICIENCY: moved / machine.peak_bandwidth if machine.peak_bandwidth else 0.0,
        READ_EFFICIENCY: moved / machine.measured_bandwidth if has_values and machine.measured_bandwidth else 0.0,
        "turnaround": memory.turnaround / memory.service,
        "fetch_interval": memory.fetch_interval / (machine.cores.groups * memory.service / memory.partitions),
    }


def _geometric(numbers: Sequence[float]) -> float:
    return math.exp(fmean(map(math.log, numbers)))


def _rounded(number: float) -> float:
    return float(f"{number:.{DIGITS}g}")
