"""The GPU that an export is of: as far as its pages have it, its name, size, architecture and clock."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from simtmm.errors import StudyError
from simtmm.measurement.nsight.numbers import number

NAME = ("device__attribute_display_name", "Device Name", "Device")  # columns that name it
CAPABILITY = "CC"
MULTIPROCESSORS = ("device__attribute_multiprocessor_count", "launch__sm_count")
CLOCK = ("gpc__cycles_elapsed.avg.per_second", "smsp__cycles_elapsed.avg.per_second")
LABELS = {"SM Frequency": CLOCK[0], "# SMs": MULTIPROCESSORS[1]}  # of the details page
COLUMNS = (*NAME, CAPABILITY, *MULTIPROCESSORS, *CLOCK)
_HERTZ = {"hz": 1.0, "khz": 1e3, "mhz": 1e6, "ghz": 1e9}
_CYCLES = {"": "hz", "m": "khz", "u": "mhz", "n": "ghz"}  # of cycle/second, cycle/msecond, ...


@dataclass(frozen=True)
class Device:
    """The GPU of a launch. name, capability: "" where the export has none, else as "9.0".

    multiprocessors: how many; None where the export does not say. clock_hz: of the launch [Hz], likewise.
    """

    name: str = ""
    capability: str = ""
    multiprocessors: int | None = None
    clock_hz: float | None = None

    def beside(self, other: "Device") -> "Device":
        """The same with what only another page of the report says.

        other: of that page.
        """
        return Device(
            self.name or other.name,
            self.capability or other.capability,
            other.multiprocessors if self.multiprocessors is None else self.multiprocessors,
            other.clock_hz if self.clock_hz is None else self.clock_hz,
        )


UNKNOWN = Device()


def device_of(row: Mapping[str, str], units: Mapping[str, str]) -> Device:
    """The GPU of a launch. Nothing is compared by these values, so one that is not understood counts as absent.

    row: values of the launch, by column.
    units: of them.
    """
    capability = row.get(CAPABILITY, "")
    groups = _first(row, dict.fromkeys(MULTIPROCESSORS, ""), {"": 1.0})
    clock = _first(row, {name: _hertz(units.get(name, "")) for name in CLOCK}, _HERTZ)
    return Device(
        gpu_of(row),
        capability if re.fullmatch(r"\d{1,3}\.\d{1,2}", capability) else "",
        None if groups is None else int(groups),
        clock,
    )


def gpu_of(row: Mapping[str, str]) -> str:
    """The name of the GPU that a row is of; "" where it says none, or its number alone.

    row: values by column.
    """
    found = next((row[name] for name in NAME if row.get(name)), "")
    return "" if found.isdecimal() else re.sub(r"\s*\(\d+\)$", "", found)


def _hertz(unit: str) -> str:
    """A unit of frequency as _HERTZ has it: cycle/nsecond, of older releases, is Ghz."""
    cycles = re.fullmatch(r"cycle/([mun]?)s(?:ec(?:ond)?)?", unit)
    return _CYCLES[cycles[1]] if cycles else unit.lower()


def _first(row: Mapping[str, str], units: Mapping[str, str], known: Mapping[str, float]) -> float | None:
    """The first column's value that is above 0."""
    for name, unit in units.items():
        try:
            value = number(name, row.get(name, ""), unit, known)
        except StudyError:
            continue
        if value > 0:
            return value
    return None
