"""Controls: what can be moved of a machine, each with the machine's own value, a range, and the keys that it changes.

A control is a rule of what a value means, and no state. Values of ratios are numbers on a logarithmic slider; where a
machine can't have what a control says (a bandwidth beside serial transfers, say) the machine refuses it as it does a
file's. Sizes of caches are offered where the machine has the cache: a machine without it has no known latency for it.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from simtmm.errors import MachineError, nearest, shown
from simtmm.explorer.state import Configuration
from simtmm.machine import Machine
from simtmm.machine.tables.cores import Scheduling

Value = float | str
FINE_TICKS = 100  # ticks of a cycle at least, where durations become fractions
OFF = "off"


@dataclass(frozen=True)
class Control:
    """A control.

    name: as in the address. label, unit: as on the page. own: a machine's value; None where it has none, and then
    the control isn't offered, but where `absent` says what stands in its place. low, high: the range, as multiples of
    its own value. changes: the keys of a machine that has this value. steps: "ratio" any number, "power" powers of
    two, "whole" whole numbers. choices: in place of a range.
    """

    name: str
    label: str
    unit: str
    own: Callable[[Machine], Value | None]
    changes: Callable[[Machine, Any], Mapping[str, Any]]
    low: float = 1 / 16
    high: float = 16.0
    steps: str = "ratio"
    choices: tuple[str, ...] = ()
    absent: str = ""

    def range(self, machine: Machine) -> tuple[float, float] | None:
        """From where to where a slider goes, on this machine; None for choices."""
        if self.choices:
            return None
        own = self.own(machine)
        middle = float(own) if own is not None else _default_bandwidth(machine)
        low, high = middle * self.low, middle * self.high
        if self.steps != "ratio":
            low, high = max(1.0, round(low)), max(2.0, round(high))
        return low, high

    def parse(self, text: str) -> Value:
        """The value of a text. Raises MachineError."""
        if self.choices or text == self.absent != "":
            if text not in self.choices and text != self.absent:
                allowed = ", ".join(self.choices)
                raise MachineError(
                    f"{self.name} = {shown(text)}: must be one of {allowed}{nearest(text, self.choices)}"
                )
            return text
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not 0 < value < 1e15 or (self.steps != "ratio" and value != int(value)):
            kind = "a number" if self.steps == "ratio" else "a whole number"
            raise MachineError(f"{self.name} = {shown(text)}: must be {kind} above 0{self._or_absent()}")
        return value

    def _or_absent(self) -> str:
        return f", or {self.absent}" if self.absent else ""

    def values(self, machine: Machine, most: int) -> list[Value]:
        """Values along the range, in order, the machine's own among them: at equal ratios, or all choices."""
        span = self.range(machine)
        if span is None:
            return list(self.choices)
        low, high = span
        own = self.own(machine)
        if self.steps == "power":
            first, last = math.ceil(math.log2(low) - 1e-9), math.floor(math.log2(high) + 1e-9)
            found = {float(2**power) for power in range(first, last + 1)}
        else:
            found = {low * (high / low) ** (place / (most - 1)) for place in range(most)}
            found = {float(f"{value:.6g}") for value in found}
        if self.steps == "whole":
            found = {float(round(value)) for value in found}
        if isinstance(own, float | int):
            found = {value for value in found if abs(value / own - 1) > 1e-3} | {float(own)}
        return sorted(found)


def _key(dotted: str, whole: bool = False) -> tuple[Callable[[Machine], Any], Callable[[Machine, Any], dict[str, Any]]]:
    """A control that is a key of the machine."""
    return (
        lambda machine: machine.values().get(dotted),
        lambda machine, value: {dotted: int(value) if whole else value},
    )


def bandwidth(machine: Machine) -> float | None:
    """Bytes a cycle that all partitions serve together; None where nothing limits them."""
    memory = machine.memory
    return memory.partitions * machine.chunk_bytes / memory.service if memory.service else None


def _default_bandwidth(machine: Machine) -> float:
    """The middle of the slider where bandwidth is unlimited: a word for each core each eight cycles."""
    return machine.processors * machine.memory.word_bytes / 8


def _bandwidth_changes(machine: Machine, value: Value) -> dict[str, Any]:
    if value == "unlimited":
        return {"memory.service": 0}
    memory = machine.memory
    service = memory.partitions * machine.chunk_bytes / float(value)
    # A duration that rounded to no ticks would be no limit at all
    ticks = machine.ticks_per_cycle
    finer = math.ceil(FINE_TICKS / ticks) * ticks if ticks < FINE_TICKS else ticks
    if service * finer < 1:
        raise MachineError(
            f"bandwidth = {value:g}: is more than {memory.partitions * machine.chunk_bytes * finer:,} bytes a cycle, "
            "which "
            f"ticks of 1/{finer} of a cycle can't distinguish from unlimited: write unlimited"
        )
    return {"memory.service": service, "ticks_per_cycle": finer}


def _size(name: str) -> Callable[[Machine], float | None]:
    def own(machine: Machine) -> float | None:
        cache = getattr(machine.memory, name)
        return None if cache is None else cache.sets * cache.ways * machine.chunk_bytes / 1024

    return own


def _resized(name: str) -> Callable[[Machine, Value], dict[str, Any]]:
    def changes(machine: Machine, value: Value) -> dict[str, Any]:
        if value == OFF:
            return {f"memory.{name}": None}
        cache = getattr(machine.memory, name)
        if cache is None:
            raise MachineError(f"{name} = {value}: {machine.name} has no {name.upper()}")
        sets = float(value) * 1024 / (cache.ways * machine.chunk_bytes)
        return {f"memory.{name}.sets": max(1, round(sets))}

    return changes


def _choices(key: str) -> tuple[str, ...]:
    return tuple(get_args(Scheduling.model_fields[key].annotation))


CONTROLS = (
    Control("latency", "Latency of memory, L", "cycles", *_key("memory.latency")),
    Control("threads", "Room for threads a core, X", "threads", *_key("cores.max_threads_per_core"), high=4.0),
    Control("bandwidth", "Bandwidth of memory", "bytes/cycle", bandwidth, _bandwidth_changes, absent="unlimited"),
    Control("groups", "Core groups", "groups", *_key("cores.groups", whole=True), 1 / 8, 4.0, "whole"),
    Control("cores", "Cores of a group, Q", "cores", *_key("cores.cores_per_group", True), 1 / 8, 8.0, "power"),
    Control("chunk", "Words of a chunk, C", "words", *_key("memory.chunk_words", True), 1 / 32, 4.0, "power"),
    Control("width", "Threads of a warp, W", "threads", *_key("cores.warp_width", True), 1 / 32, 4.0, "power"),
    Control("l1", "L1 of a group", "KiB", _size("l1"), _resized("l1"), absent=OFF),
    Control("l2", "L2", "KiB", _size("l2"), _resized("l2"), absent=OFF),
    Control("scheduler", "Scheduler", "", *_key("scheduling.scheduler"), choices=_choices("scheduler")),
    Control("switch", "When a warp gives up its port", "", *_key("scheduling.switch"), choices=_choices("switch")),
)
BY_NAME = {control.name: control for control in CONTROLS}


def offered(machine: Machine) -> list[Control]:
    """The controls that this machine has: all, but sizes of caches that are not there."""
    return [control for control in CONTROLS if control.name not in ("l1", "l2") or control.own(machine) is not None]


def find_control(name: str) -> Control:
    """The control of this name. Raises MachineError."""
    if name not in BY_NAME:
        raise MachineError(f"control {shown(name)}: unknown{nearest(name, BY_NAME)}")
    return BY_NAME[name]


def changes_of(machine: Machine, controls: Mapping[str, str]) -> dict[str, Any]:
    """The keys that controls change. A bandwidth in bytes depends on the chunk, so others come first.

    Raises MachineError.
    """
    changes: dict[str, Any] = {}
    names = [find_control(name).name for name in controls]
    for name in sorted(names, key=lambda name: name == "bandwidth"):
        control = BY_NAME[name]
        on = machine.replace(changes) if name == "bandwidth" and changes else machine
        changes.update(control.changes(on, control.parse(controls[name])))
    return changes


def changed(machine: Machine, configuration: Configuration) -> Machine:
    """The machine under its controls. Raises MachineError."""
    changes = changes_of(machine, configuration.controls)
    return machine.replace(changes) if changes else machine


def described(machine: Machine, names: Sequence[Control] | None = None) -> list[dict[str, Any]]:
    """For the page: name, label, unit, the machine's own value, range, steps or choices."""
    return [
        {
            "name": control.name,
            "label": control.label,
            "unit": control.unit,
            "own": control.own(machine) if control.own(machine) is not None else control.absent,
            "range": control.range(machine),
            "steps": control.steps,
            "choices": list(control.choices),
            "absent": control.absent,
        }
        for control in (offered(machine) if names is None else names)
    ]
