"""How two barriers differ that stand on one line of source: where they were inlined or called, or by trips of loops."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from simtmm.cuda.compilers import bare_name
from simtmm.cuda.execution.runtime.barrier_places import TRIP_BITS, calls_of
from simtmm.cuda.ptx.syntax import Location

if TYPE_CHECKING:
    from simtmm.cuda.function import KernelFunction

_TRIPS = 64 // TRIP_BITS  # loops whose trips are kept
_MOST_CALLS = 4  # that are named
_LOOPS = ("loop", "second loop", "third loop", "fourth loop")


def apart(function: "KernelFunction", events: tuple[int, int], ways: tuple[int, int]) -> tuple[str, str]:
    """What to add to the places of two barriers, each its own; empty where their lines tell them apart.

    events: numbers of their instructions (Program.accesses). ways: by what calls threads came there.
    """
    places = [_line(function, event) for event in events]
    if places[0] != places[1]:
        return "", ""
    texts = [", in ".join(_calls(function, event, way)) for event, way in zip(events, ways, strict=True)]
    if texts[0] != texts[1]:
        return f"in {texts[0]}" if texts[0] else "", f"in {texts[1]}" if texts[1] else ""
    if events[0] == events[1]:
        return "", ""
    columns = [_column(function, event) for event in events]
    if columns[0] != columns[1] and all(columns):
        return f"column {columns[0]}", f"column {columns[1]}"
    return "", "another copy of the barrier on that line"


def trips_apart(trips: tuple[int, int]) -> tuple[str, str]:
    """In which trips of one loop two threads are, where they are in different ones; the innermost such loop."""
    for level in range(_TRIPS):
        first, second = ((each >> (TRIP_BITS * level)) & ((1 << TRIP_BITS) - 1) for each in trips)
        if first != second:
            loop = f"the {_LOOPS[level]} around it, as compiled"
            return f"in trip {first} of {loop}", f"in trip {second} of {loop}"
    return "", ""


def _line(function: "KernelFunction", event: int) -> tuple[str, int]:
    name, instruction = function.program.accesses[event]
    linked = function.linked
    return linked.place(name, linked.readable_location(name, instruction.location))[:2]


def _column(function: "KernelFunction", event: int) -> int:
    name, instruction = function.program.accesses[event]
    location = function.linked.readable_location(name, instruction.location)
    return location.column if location is not None else 0


def _calls(function: "KernelFunction", event: int, way: int) -> Iterator[str]:
    """By what calls of functions a barrier is reached, from the inside: meet(), inlined at k.cu:21."""
    name, instruction = function.program.accesses[event]
    yield from _inlined(function, name, function.linked.readable_location(name, instruction.location))
    calls = calls_of(way, function.program.calls)
    for caller, call in calls[:_MOST_CALLS]:
        location = function.linked.readable_location(caller, call.location)
        file, line, _ = function.linked.place(caller, location)
        yield f"{bare_name(name)}(), called at {file}:{line}"
        yield from _inlined(function, caller, location)
        name = caller
    if len(calls) > _MOST_CALLS:
        yield f"{len(calls) - _MOST_CALLS} more calls"


def _inlined(function: "KernelFunction", name: str, location: Location | None) -> Iterator[str]:
    while location is not None and location.inlined_at is not None:
        outer = function.linked.readable_location(name, location.inlined_at)
        file, line, _ = function.linked.place(name, outer)
        yield f"{bare_name(location.function) or 'a function'}(), inlined at {file}:{line}"
        location = outer
