"""What other code of the host would call: each change with its calls."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from simtmm.analysis.host.calls import Call
from simtmm.analysis.host.host_change import OFTEN, HostChange, without
from simtmm.analysis.host.results import results_copied_less
from simtmm.analysis.source_changes.lines import BOUND, ESTIMATE, SIMULATED
from simtmm.device.host import IN, OUT
from simtmm.recorder.direct import calls as kinds

SMALL = 1 << 16  # bytes of a copy, up to which the call takes most of its time
STREAMS = 3
PIECES = 4  # that one round of copies and kernels is cut into
LEAST_PIECE = 1 << 18  # bytes
WAITS = (kinds.SYNCHRONIZE, kinds.SYNCHRONIZE_STREAM)
FREES = (kinds.FREE, kinds.FREE_PINNED)
ALLOCATIONS = (kinds.ALLOCATE, kinds.ALLOCATE_PINNED)


def changes_of(calls: Sequence[Call], spared_in_graph: float) -> Iterator[HostChange]:
    """What is worth trying. spared_in_graph: what a launch in a graph takes less than another [s]."""
    yield from _pinned(calls)
    yield from _gathered(calls)
    yield from _waiting_less(calls)
    yield from _allocating_once(calls)
    yield from _staying(calls)
    yield from results_copied_less(calls)
    yield from _overlapped(calls)
    yield from _prefetched(calls)
    yield from _in_graph(calls, spared_in_graph)


def _often(calls: Sequence[Call], names: Sequence[str], direction: str | None = None) -> dict[str, int]:
    """Lines that make a call of these kinds often, and how often.

    What a launch of Numba calls for each of its host arrays is often only where the launch is.
    direction: of the copies that count; all, if left out.
    """
    found = Counter(
        call.place for call in calls
        if call.kind in names and call.place and direction in (None, call.direction)
    )  # fmt: skip
    launches = Counter(call.place for call in calls if call.kind == kinds.LAUNCH)
    return {place: number for place, number in found.items() if min(number, launches.get(place, OFTEN)) >= OFTEN}


def _is_pageable(call: Call) -> bool:
    return call.kind == kinds.COPY and call.direction is not None and not call.is_pinned


def _in_pinned(calls: Sequence[Call]) -> list[Call]:
    """All copies from and to pinned memory, which is allocated once for each line."""
    most: dict[str, int] = defaultdict(int)
    for call in calls:
        if _is_pageable(call):
            most[call.place] = max(most[call.place], call.size)
    allocated = [Call(kinds.ALLOCATE_PINNED, place, size=size) for place, size in most.items()]
    return allocated + [replace(call, is_pinned=True) if _is_pageable(call) else call for call in calls]


def _pinned(calls: Sequence[Call]) -> Iterator[HostChange]:
    taken: Counter[str] = Counter()
    for call in calls:
        if _is_pageable(call):
            taken[call.place] += call.size
    if taken:
        words = (
            "copy from and to pinned memory (cudaMallocHost instead of malloc or new), which the copy engine reads "
            "by itself"
        )
        yield HostChange("pinned", taken.most_common(1)[0][0], words, SIMULATED, tuple(_in_pinned(calls)))


def _gathered(calls: Sequence[Call]) -> Iterator[HostChange]:
    """Small copies of a line that come between two launches become one."""
    places = _often([call for call in calls if call.size <= SMALL and call.direction is not None], (kinds.COPY,))
    for place in places:
        groups: list[list[int]] = [[]]
        for number, call in enumerate(calls):
            if call.kind == kinds.LAUNCH:
                groups.append([])
            elif call.kind == kinds.COPY and call.place == place and call.direction is not None:
                groups[-1].append(number)
        groups = [group for group in groups if len(group) >= OFTEN]
        if not groups:
            continue
        new, left = list(calls), set[int]()
        for group in groups:
            kept = group[0] if calls[group[0]].direction == IN else group[-1]
            new[kept] = replace(calls[kept], size=sum(calls[number].size for number in group))
            left |= {number for number in group if number != kept}
        number = sum(map(len, groups))
        size = sum(calls[each].size for group in groups for each in group) // number
        words = (
            f"gather these copies, {number:,} of {size:,} bytes on average, into one buffer, and copy that once: each "
            "call takes microseconds, whatever its size"
        )
        yield HostChange("gather", place, words, ESTIMATE, tuple(without(new, left)))


def _waiting_less(calls: Sequence[Call]) -> Iterator[HostChange]:
    for place, number in _often(calls, WAITS).items():
        gone = {at for at, call in enumerate(calls) if call.kind in WAITS and call.place == place}
        words = (
            f"wait once, at the end, and not {number:,} times: what is on a stream runs in its order anyway, and the "
            "next launch is ready when the one before ends"
        )
        yield HostChange("wait once", place, words, BOUND, tuple(without(calls, gone)))


def _allocating_once(calls: Sequence[Call]) -> Iterator[HostChange]:
    """Lines of a loop that allocate, and those that free: the first of the ones and the last of the others are left."""
    allocating, freeing = _often(calls, ALLOCATIONS), _often(calls, FREES)
    if not allocating:
        return
    kept = {next(at for at, call in enumerate(calls) if _is_of(call, ALLOCATIONS, place)) for place in allocating}
    kept |= {max(at for at, call in enumerate(calls) if _is_of(call, FREES, place)) for place in freeing}
    gone = {
        at for at, call in enumerate(calls)
        if (call.kind in ALLOCATIONS and call.place in allocating) or (call.kind in FREES and call.place in freeing)
    }  # fmt: skip
    number = len(gone - kept)
    words = (
        f"allocate once before the loop, and free behind it: {number:,} calls of cudaMalloc and cudaFree take tens of "
        "microseconds each, and cudaFree waits for the device (cudaMallocAsync takes from a pool)"
    )
    place = max(allocating, key=lambda each: allocating[each])
    yield HostChange("allocate once", place, words, ESTIMATE, tuple(without(calls, gone - kept)))


def _is_of(call: Call, names: Sequence[str], place: str) -> bool:
    return call.kind in names and call.place == place


def _staying(calls: Sequence[Call]) -> Iterator[HostChange]:
    """Data that go to the host and come back, round after round, stay on the device."""
    copies = [call for call in calls if call.kind == kinds.COPY]
    out, into = _often(calls, (kinds.COPY,), OUT), _often(calls, (kinds.COPY,), IN)
    sizes = {way: Counter(call.size for call in copies if call.direction == way) for way in (IN, OUT)}
    gone = set[int]()
    for way, places in ((OUT, out), (IN, into)):
        for place in places:
            own = [at for at, call in enumerate(calls) if _is_of(call, (kinds.COPY,), place) and call.direction == way]
            if all(sizes[IN][calls[at].size] >= OFTEN and sizes[OUT][calls[at].size] >= OFTEN for at in own):
                gone |= set(own[:-1] if way == OUT else own[1:])
    ways = {calls[at].direction for at in gone}
    at_copies = {calls[at].place for at in gone}  # what allocates there is for them: Numba's host arrays as arguments
    allocated = [at for at, call in enumerate(calls) if call.kind in ALLOCATIONS and call.place in at_copies]
    gone |= set(allocated[1:])
    if ways == {IN, OUT}:
        words = (
            "leave data on the device that go to the host and come back in each round, and copy them out once, behind "
            "the loop, unless the host changes them"
        )
        yield HostChange("stay", max(out, key=lambda each: out[each]), words, BOUND, tuple(without(calls, gone)))


def _overlapped(calls: Sequence[Call]) -> Iterator[HostChange]:
    """Rounds of copies and kernels on one stream go to several, or the only round is cut into pieces."""
    copied = [call for call in calls if call.kind == kinds.COPY and call.direction is not None]
    launched = [call for call in calls if call.kind == kinds.LAUNCH]
    streams = {call.stream for call in (*copied, *launched)}
    if not copied or not launched or len(streams) > 1 or any(call.kind in (kinds.WAIT, kinds.FETCH) for call in calls):
        return
    rounds = _rounds(calls)
    number = rounds[-1] + 1
    new = _in_pinned([call for call in calls if call.kind not in WAITS])
    at = iter(round_ for call, round_ in zip(calls, rounds, strict=True) if call.kind not in WAITS)
    spread: list[Call] = []
    for call in new:
        round_ = 0 if call.kind == kinds.ALLOCATE_PINNED and call not in calls else next(at)
        if call.kind not in (kinds.COPY, kinds.LAUNCH, kinds.FILL):
            spread.append(call)
        elif number >= STREAMS:
            spread.append(replace(call, stream=1 + round_ % STREAMS, is_awaited=False))
        else:
            spread.extend(_pieces(call))
    if number < STREAMS:
        if max(call.size for call in copied) < PIECES * LEAST_PIECE:
            return
        spread = _by_piece(spread)
    how = (
        f"rounds go to {STREAMS} streams in turn, if none needs what another wrote"
        if number >= STREAMS
        else f"cut the data into {PIECES} pieces, each on a stream of its own, if blocks need only their own part"
    )
    words = f"copy while kernels compute: cudaMemcpyAsync of pinned memory, and {how}"
    place = max(copied, key=lambda call: call.size).place
    yield HostChange("overlap", place, words, BOUND, tuple(spread))


def _rounds(calls: Sequence[Call]) -> list[int]:
    """The round that each call belongs to: one begins with the first copy to the device behind a launch."""
    found, number, has_launched = [], 0, False
    for call in calls:
        if call.kind == kinds.COPY and call.direction == IN and has_launched:
            number, has_launched = number + 1, False
        has_launched = has_launched or call.kind == kinds.LAUNCH
        found.append(number)
    return found


def _pieces(call: Call) -> Iterator[Call]:
    for number in range(PIECES):
        yield replace(
            call, stream=1 + number, size=call.size // PIECES, seconds=call.seconds / PIECES, is_awaited=False
        )


def _by_piece(calls: Sequence[Call]) -> list[Call]:
    """A piece after another, between calls that are not cut."""
    found: list[Call] = []
    waiting: dict[int, list[Call]] = defaultdict(list)
    for call in calls:
        if call.stream:
            waiting[call.stream].append(call)
            continue
        if call.kind in ALLOCATIONS and not waiting:
            found.append(call)
            continue
        found += [each for number in sorted(waiting) for each in waiting.pop(number)]
        found.append(call)
    return found + [each for number in sorted(waiting) for each in waiting[number]]


def _prefetched(calls: Sequence[Call]) -> Iterator[HostChange]:
    if any(call.move == "FAULTS" for call in calls):
        new = tuple(replace(call, move="PREFETCH") if call.move == "FAULTS" else call for call in calls)
        words = (
            "prefetch managed memory before the launch that needs it (cudaMemPrefetchAsync): its pages come one fault "
            "after another now"
        )
        yield HostChange("prefetch", "", words, SIMULATED, new)


def _in_graph(calls: Sequence[Call], spared: float) -> Iterator[HostChange]:
    """Launches between which nothing else is called are launched by a graph."""
    new, number, is_behind = [], 0, False
    for call in calls:
        if call.kind == kinds.LAUNCH and is_behind and not call.follows_in_graph:
            number += 1
            call = replace(call, follows_in_graph=True, seconds=max(0.0, call.seconds - spared))
        is_behind = call.kind == kinds.LAUNCH
        new.append(call)
    if number >= OFTEN:
        words = (
            f"launch {number + 1:,} kernels by a graph (cudaStreamBeginCapture, cudaGraphLaunch), or fuse them: the "
            "host is later with its launches than the device is done"
        )
        yield HostChange("launch by graph", "", words, ESTIMATE, tuple(new))
