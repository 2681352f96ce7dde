"""Threads that wait for one another in global memory: at a lock, or for a flag.

A recording runs blocks and warps so that a thread that waits is let on at once, and a trace lists what each did then.
So nothing of a simulation waits for another block's store: its time is what such a program takes at least.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from simtmm.stalls import ATOMICS, LOADS, Place, Stalls

_COMPARES = re.compile(r"\.cas\b|atomic_?cas|compare_and_swap|compare_exchange|atomic\.cas", re.IGNORECASE)
_EXCHANGES = re.compile(r"\.exch\b|atomic_?exch|atomic_xchg|atomic\.exch", re.IGNORECASE)
_SEEN_BY_OTHERS = re.compile(r"\.strong\b|\.volatile\b|\.acquire\b|\.release\b|\.relaxed\b", re.IGNORECASE)
_ACQUIRES = re.compile(r"\.strong\.(gpu|cluster)\b|\.acquire\b", re.IGNORECASE)  # volatile is .STRONG.SYS
_LOOPS = re.compile(r"\b(?:while|for|do)\b")


@dataclass(frozen=True)
class Turns:
    """Where threads wait for others.

    is_lock: whether one after another is let through, or all wait for a flag. file, line: where they wait. array: that
    the lock or the flag is in. last: the last line of the lock, where it is let go. numbers: of its places.
    """

    is_lock: bool
    file: str
    line: int
    array: str
    last: int
    numbers: tuple[int, ...]


def turns_of(stalls: Stalls) -> tuple[Turns, ...]:
    """All of them, in the order of their lines.

    stalls: of a run.
    """
    places = stalls.places
    of_arrays: defaultdict[tuple[str, str, str], list[tuple[int, Place]]] = defaultdict(list)
    beside: defaultdict[tuple[str, int, str], list[int]] = defaultdict(list)
    for number in np.flatnonzero(stalls.counts[: len(places)].any(axis=1)).tolist():
        place, array = places.place(number)
        if not place.line or place.kind not in (*ATOMICS, *LOADS, "store"):
            continue
        if array:
            of_arrays[place.function, place.file, array].append((number, place))
        else:  # what is computed for the access
            beside[place.file, place.line, place.kind].append(number)
    found = [_turns(array, own, beside) for (_, _, array), own in of_arrays.items()]
    return tuple(sorted((each for each in found if each is not None), key=lambda each: (each.file, each.line)))


def lock_of(stalls: Stalls | None) -> Turns | None:
    """The first lock that threads take turns at; None where there is none.

    stalls: of a run; None where they are not known.
    """
    return next((each for each in (() if stalls is None else turns_of(stalls)) if each.is_lock), None)


def turns_words(stalls: Stalls | None) -> str | None:
    """What to say of a run in which threads wait for others; None of any other.

    stalls: of the run; None where they are not known.
    """
    found = () if stalls is None else turns_of(stalls)
    if not found:
        return None
    arrays: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for each in found:
        arrays[f"{each.file}:{each.line}", "a lock" if each.is_lock else "a flag"].append(each.array)
    where = ", ".join(f"{at} ({what} in {' or '.join(names)})" for (at, what), names in arrays.items())
    return (
        f"Threads wait for others at {where}. That waiting is not simulated: a thread that waited was let on at once "
        "when it was recorded, and so the time is what the program takes at least."
    )


def _turns(array: str, own: list[tuple[int, Place]], beside: Mapping[tuple[str, int, str], list[int]]) -> Turns | None:
    """A lock or a flag in an array that is accessed at these places; None where it has none.

    beside: numbers of what is computed for accesses, by their file, line and kind.
    """
    atomics = [(number, place) for number, place in own if place.kind in ATOMICS]
    compares = [place for _, place in atomics if _is(_COMPARES, place)]
    exchanges = [place for _, place in atomics if _is(_EXCHANGES, place)]
    stores = [place for _, place in own if place.kind == "store" and _is(_SEEN_BY_OTHERS, place)]
    taking = compares or exchanges
    freeing = [place for place in (*exchanges, *stores) if all(place.line != each.line for each in taking[:1])]
    if taking and freeing:
        first = min(taking, key=lambda place: place.line)
        last = max(place.line for place in (*taking, *freeing))
        numbers = [number for number, _ in atomics]
        for at in {(place.file, place.line, place.kind) for _, place in atomics}:
            numbers += beside.get(at, [])
        return Turns(True, first.file, first.line, array, last, tuple(sorted(numbers)))
    polled = [place for _, place in own if place.kind in LOADS and _polls(place)]
    if polled and (stores or atomics):
        asked = tuple(number for number, place in own if place in polled)
        return Turns(False, polled[0].file, polled[0].line, array, polled[0].line, asked)
    return None


def _is(what: re.Pattern[str], place: Place) -> bool:
    """Whether an instruction is of a kind; by its line where the instruction is not known."""
    return bool(what.search(place.instruction or place.source))


def _polls(place: Place) -> bool:
    """Whether a load asks again and again for what others write, by what it is and by the loop on its line."""
    return bool(
        _ACQUIRES.search(place.instruction)
        or (_SEEN_BY_OTHERS.search(place.instruction) and _LOOPS.search(place.source))
    )
