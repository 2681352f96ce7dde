"""What a host, and its link to a device, take: calls of the CUDA runtime, copies and fills (host.toml)."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import Any

from simtmm.machine import Machine

USUAL_LINK = "pcie-4"  # where a machine does not say
IN, OUT = "in", "out"  # to the device, from it
BANDWIDTH = 500e9  # bytes/s of a device whose data sheet is not known
Curve = tuple[tuple[float, float], ...]
"""Seconds by bytes: points by rising bytes."""


class Move(Enum):
    """Why managed memory moves, and where to; in the order of Move of programs/runtime/runtime.h.

    FAULTS: to the device, as a kernel needs it. PREFETCH: to the device, as the program sends it. ACROSS: nowhere, as a
    kernel reads it on the host. PREFETCH_BACK: to the host, as the program sends it.
    """

    FAULTS = "faults"
    PREFETCH = "prefetch"
    ACROSS = "across"
    PREFETCH_BACK = "prefetch back"


@dataclass(frozen=True)
class Host:
    """A host and its link. Of what is left out, nothing takes any time.

    calls: seconds of calls of the runtime, by the names of host.toml.
    copies: seconds of copies between host and device by bytes, under "pageable_in", "pinned_out", "engine_in", say.
    on_device: seconds of a copy within the device, and seconds for each byte of it; fills: likewise of a fill.
    touched, prefetched: seconds for each byte of managed memory that comes to the device because a kernel needs it, and
    because the program sends it there. returned, prefetched_back: likewise of what comes back because the host uses it,
    and because the program sends it.
    """

    calls: dict[str, float] = field(default_factory=dict)
    copies: dict[str, Curve] = field(default_factory=dict)
    on_device: tuple[float, float] = (0.0, 0.0)
    fills: tuple[float, float] = (0.0, 0.0)
    touched: float = 0.0
    prefetched: float = 0.0
    returned: float = 0.0
    prefetched_back: float = 0.0

    def call(self, name: str) -> float:
        """What a call takes of the host [s].

        name: of the call, as the driver's or the runtime's manual has it.
        """
        return self.calls.get(name, 0.0)

    def copy(self, direction: str, size: int, is_pinned: bool) -> float:
        """A copy that the host waits for, from its call to its return [s].

        direction: IN or OUT. size: [bytes]. is_pinned: whether the host's memory is locked.
        """
        return _at(self.copies.get(f"{'pinned' if is_pinned else 'pageable'}_{direction}", ()), size)

    def engine(self, direction: str, size: int) -> float:
        """What a copy of pinned memory takes of a copy engine [s]; likewise.

        direction: "to-device" or "to-host".
        size: bytes that are copied.
        """
        return _at(self.copies.get(f"engine_{direction}", ()), size)

    def move(self, size: int, move: Move) -> float:
        """A move of managed memory, without the host's faults [s].

        size: bytes that move.
        move: why, and where to.
        """
        if move is Move.ACROSS:
            return self.engine(IN, size)
        each = {Move.FAULTS: self.touched, Move.PREFETCH: self.prefetched, Move.PREFETCH_BACK: self.prefetched_back}
        return size * each[move]

    def copy_on_device(self, size: int) -> float:
        """A copy within the device [s].

        size: bytes that are copied.
        """
        return max(self.on_device[0], size * self.on_device[1])

    def fill(self, size: int) -> float:
        """A fill [s].

        size: bytes that are filled.
        """
        return self.fills[0] + size * self.fills[1]


AT_ONCE = Host()
"""A host whose calls and copies take no time."""


def host_of(machine: Machine) -> Host:
    """The host of a machine: by its `link` and `peak_bandwidth`."""
    table = _table()
    device, managed = table["device"], table["managed"]
    peak = machine.peak_bandwidth or BANDWIDTH
    links, link = table["links"], machine.link or USUAL_LINK
    copies, measured = _curves(links, link), _curves(links, managed["link"])
    slower = {way: _byte(copies[f"engine_{way}"]) - _byte(measured[f"engine_{way}"]) for way in (IN, OUT)}
    is_coherent = bool(links[link].get("coherent"))
    return Host(
        calls=table["calls"],
        copies=copies,
        on_device=(device["copy"], 2 / (peak * device["copy_share"])),
        fills=(device["fill"], 1 / (peak * device["fill_share"])),
        touched=managed["touch_byte"] + slower[IN],
        prefetched=managed["prefetch_byte"] + slower[IN],
        returned=0.0 if is_coherent else managed["return_byte"] + slower[OUT],
        prefetched_back=managed["prefetch_back_byte"] + slower[OUT],
    )


def _byte(points: Curve) -> float:
    """Seconds for each byte of a long copy."""
    (less, quick), (more, slow) = points[-2:]
    return (slow - quick) / (more - less)


def _curves(links: dict[str, Any], name: str) -> dict[str, Curve]:
    """The copies of a link; of one that is as another, with the seconds beyond the first point by its rate."""
    row = links[name]
    if "as" not in row:
        return {key: tuple(map(tuple, points)) for key, points in row.items()}
    found = {}
    for key, points in _curves(links, row["as"]).items():
        rate = row["pageable_rate" if key.startswith("pageable") else "pinned_rate"]
        first = points[0][1]
        found[key] = tuple((size, first + (seconds - first) / rate) for size, seconds in points)
    return found


def _at(points: Sequence[tuple[float, float]], size: float) -> float:
    """Seconds between points, on the last line behind them."""
    if not points:
        return 0.0
    if size <= points[0][0]:
        return points[0][1]
    for (less, quick), (more, slow) in pairwise(points):
        if size <= more or more == points[-1][0]:
            return quick + (slow - quick) * (size - less) / (more - less)
    return points[0][1]


@cache
def _table() -> dict[str, Any]:
    text = (resources.files("simtmm.device") / "host.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
