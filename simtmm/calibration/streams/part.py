"""The part of a machine that a fit runs on, what is fitted of it, and the keys of a machine with fitted values."""

from collections.abc import Mapping, Sequence
from typing import Any

from simtmm.calibration.least_squares import Parameter
from simtmm.calibration.streams.occupancy_curve import StreamPoint
from simtmm.errors import StudyError
from simtmm.machine import Machine
from simtmm.measurement.stream_operations import ELEMENT_BYTES, OPERATIONS

PART = 8  # of the groups and partitions, for the fit
LEAST_GROUPS = 10  # of that part: with fewer, chance decides how full the partitions are
MOST_GROUPS = 16  # of that part: more take longer and tell no more
MOST_BANDWIDTH = 1.25  # of the memory, over what the quickest kernel moved: more would be no memory that was seen
# Of the data sheet's bandwidth, for all partitions together: the longest fills keep 0.973 of hashed ones busy
MOST_OF_DATA_SHEET = 1.028
READ = "read"
ATOMICS = "memory.atomic_service"
INTERLEAVE, HASHED = "memory.interleave", "hash"  # how chunks lie while a machine is fitted that takes them in turn
HOLDABLE = {
    f"{table}.{name}": name
    for table, names in {
        "scheduling": ("block_launch", "warp_launch"),
        "memory": (
            "store_latency",
            "port_interval",
            "store_buffer",
            "fetch_interval",
            "return_delay",
            "return_interval",
            "store_interval",
        ),
    }.items()
    for name in names
}
"""Keys that a fit may leave as the machine has them, and what they are called here."""


def _own(machine: Machine, key: str) -> float:
    """The machine's own value of a key that is held. Raises StudyError where it has none."""
    value = machine.values().get(key)
    if value is None:
        raise StudyError(f"hold {key}: {machine.name} has no value for it: set one")
    return float(value)


def interleave_of(machine: Machine) -> str:
    """How chunks lie in a machine's partitions while it is fitted: as it has them, and hashed where they are in turn.

    machine: to begin with. Of chunks in turn, those at multiples of one distance would all lie in one partition, which
    no GPU does.
    """
    own = machine.memory.interleave
    return HASHED if own == "modulo" else own


def _without_ports(machine: Machine) -> dict[str, float]:
    """What a machine has no use for whose pipe stands instead of memory ports, and says what may be on its way."""
    pipe = machine.memory.pipe
    if pipe is None:
        return {}
    return {"port_interval": 0.0} | ({"fetch_interval": 0.0} if pipe.misses else {})


class MachinePart:
    """A machine of fewer groups and partitions, whose shares of the bandwidth are the same.

    scale: the whole machine over this part. machine, whole: this part, and the whole, with what a fit takes for given.
    storing: the measured operations that store. tells_stores: whether there are several, as one can't tell what loads
    and what stores take of a store. clock: cycles a second. chunks: that a warp loads at once.
    quickest: the largest bandwidth that was measured, for this part [bytes/s].
    held: values that are not fitted, by what they are called here.
    """

    def __init__(self, machine: Machine, stream: Sequence[StreamPoint], hold: Sequence[str]) -> None:
        """stream: the measured points. hold: keys of HOLDABLE that stay as the machine has them.

        Raises StudyError where a measurement, the clock, or the value of a key that is held is missing.
        """
        if READ not in stream[0].measured:
            raise StudyError(f"operation {READ!r}: was not measured, but the calibration starts from it")
        if machine.clock_hz is None:
            raise StudyError("clock_hz: unknown: the latency file has no column clock_mhz, and no machine is given")
        groups = machine.cores.groups
        part = min(MOST_GROUPS, round(groups / max(1, min(PART, groups // LEAST_GROUPS))))
        self.scale = groups / part
        measured = [name for name in OPERATIONS if name in stream[0].measured]
        self.storing = [name for name in measured if OPERATIONS[name].stores]
        self.tells_stores = len(self.storing) > 1
        changes = {"cores.groups": part, INTERLEAVE: interleave_of(machine)}
        changes |= {"memory.stores": "at-end"} if self.storing else {}
        self.machine = machine.replace(changes)
        self.whole = machine.replace(changes | {"cores.groups": groups})
        l2 = machine.memory.l2
        self.atomics_follow = l2 is None or l2.atomics == "through"  # partitions of memory do them
        self.clock = machine.clock_hz
        self.chunks = max(1.0, machine.cores.warp_width * ELEMENT_BYTES / machine.chunk_bytes)
        self.quickest = max(max(point.measured.values()) for point in stream) / self.scale
        self.held = {HOLDABLE[key]: _own(machine, key) for key in hold} | _without_ports(machine)

    @property
    def most_bandwidth(self) -> float:
        """Bytes a second that all partitions may read: more would be no memory that was seen."""
        return MOST_BANDWIDTH * self.quickest

    @property
    def most_written(self) -> float:
        """Bytes a second that all partitions may write: no long fill is faster than the data sheet says, unless that
        was measured.
        """
        told = self.machine.peak_bandwidth
        most = self.most_bandwidth
        return most if told is None else min(most, max(MOST_OF_DATA_SHEET * told / self.scale, self.quickest))

    def parameters(self, chunk: float, of_stores: bool) -> list[Parameter]:
        """What is fitted, in steps over which slopes are taken.

        chunk: cycles from one chunk to the next at memory, to begin with. of_stores: whether what stores show, too.
        """
        latency = self.machine.memory.latency
        most = min(self.most_bandwidth, self.most_written * self.machine.memory.write_share)
        least = self.machine.chunk_bytes / most * self.clock
        parameters = [
            Parameter("chunk", least, max(3 * chunk, least), chunk / 50),
            Parameter("block_launch", 0, 1e5, 15),
        ]
        if of_stores or not self.tells_stores:
            parameters.append(Parameter("warp_launch", 0, 1e3, 2))
        if self.tells_stores:
            parameters.append(Parameter("fetch_interval", 0, 200, 1))
        if of_stores:
            parameters += [
                Parameter("store_latency", 1, 2 * latency, latency / 20),
                Parameter("turnaround", 0, 2 * chunk, chunk / 20),
                Parameter("port_interval", 0, 20, 0.5),
            ]
        if of_stores and self.tells_stores:
            parameters += [
                Parameter("store_buffer", 0, 100, 1.5),
                Parameter("return_delay", 0, 400, 3),
                Parameter("return_interval", 0, 60, 1),
                Parameter("store_interval", 0, 60, 1),
            ]
        return [parameter for parameter in parameters if parameter.name not in self.held]

    def keys(self, values: Mapping[str, float], partitions: int, scale: float) -> dict[str, Any]:
        """The keys of a machine that is `scale` times as large as the part, and has that many partitions.

        values: fitted values, by what they are called here [cycles, a store buffer in chunks].
        """
        service = round(partitions * values["chunk"] / scale, 3)
        read = {
            "scheduling.block_launch": round(values["block_launch"], 1),
            "scheduling.warp_launch": round(values["warp_launch"], 2),
            "memory.partitions": partitions,
            "memory.service": service,
            **({ATOMICS: service} if self.atomics_follow else {}),
        }
        if not self.storing:
            return read
        stores = {
            "memory.store_latency": round(max(1.0, values["store_latency"]), 1),
            "memory.turnaround": round(partitions * values["turnaround"] / scale, 3),
            "memory.port_interval": round(values["port_interval"], 3),
        }
        both = (
            ("store_buffer", "fetch_interval", "return_delay", "return_interval", "store_interval")
            if self.tells_stores
            else ()
        )
        return read | stores | {f"memory.{name}": round(values[name], 3) for name in both}
