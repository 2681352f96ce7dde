"""Results that are copied to the host and that nobody needs there, as far as the calls of a program can tell.

Whether the host's own code reads what it has got no call says: only the bound of a change can be told then.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from simtmm.analysis.host.calls import Call
from simtmm.analysis.host.host_change import OFTEN, HostChange, without
from simtmm.analysis.source_changes.lines import BOUND
from simtmm.device.host import IN, OUT
from simtmm.recorder.direct import calls as kinds

# What may write to the device's memory, or give it to others, beside copies to it and within it
WRITING = (kinds.LAUNCH, kinds.FILL, kinds.FETCH, kinds.ALLOCATE, kinds.FREE)
WAITING = (kinds.SYNCHRONIZE, kinds.SYNCHRONIZE_STREAM, kinds.QUERY, kinds.FREE, kinds.FREE_PINNED)
UNCHANGED, UNREAD, OVERWRITTEN = "unchanged", "unread", "overwritten"
WORDS = {
    UNCHANGED: (
        "do not copy this again, as {number:,} of {all:,} copies do: nothing has written to the device's memory since "
        "the same bytes were copied to the same place (unless your code changes its copy)"
    ),
    UNREAD: (
        "copy this once, behind the loop: {number:,} of {all:,} copies are overwritten by the next one before the host "
        "has waited for them, so that it can't rely on them"
    ),
    OVERWRITTEN: (
        "copy this once, behind the loop, if that is all you need: each of {all:,} copies overwrites the one before; "
        "whether your code reads them in between, simtmm can't see"
    ),
}


def results_copied_less(calls: Sequence[Call]) -> Iterator[HostChange]:
    """Of each line that copies results to the host often, those copies left out that nothing shows a need for."""
    gone: defaultdict[str, dict[int, str]] = defaultdict(dict)
    for at, why in _needless(calls).items():
        gone[calls[at].place][at] = why
    copied = Counter(call.place for call in calls if call.kind == kinds.COPY and call.direction == OUT)
    for place, needless in gone.items():
        if not place or copied[place] < OFTEN:
            continue
        why = Counter(needless.values()).most_common(1)[0][0]
        words = WORDS[why].format(number=len(needless), all=copied[place])
        yield HostChange("copy back once", place, words, BOUND, tuple(without(calls, set(needless))))


def _needless(calls: Sequence[Call]) -> dict[int, str]:
    """The copies to the host that something else overwrites or repeats, by their numbers, and why."""
    found: dict[int, str] = {}
    last: dict[int, int] = {}  # the copy that a place of the host has its bytes from
    reached: dict[int, int] = {}  # how often the device's memory was written when that was
    waited: set[int] = set()  # copies that the host has waited for
    writes = 0
    for at, call in enumerate(calls):
        is_waited = call.kind == kinds.COPY and (call.is_awaited or not call.is_pinned)
        if call.kind in WAITING or is_waited:
            waited.update(last.values())
        if call.kind in WRITING or (call.kind == kinds.COPY and call.direction != OUT):
            writes += 1
        if call.kind != kinds.COPY or call.host == kinds.UNKNOWN:
            continue
        if call.direction == IN:
            if call.host in last:  # results are copied back to the device: which of them, the place does not say
                last.clear()
            continue
        before = last.get(call.host)
        if before is not None and calls[before].size <= call.size and calls[before].place == call.place:
            is_same = (calls[before].device, calls[before].size) == (call.device, call.size)
            if is_same and call.device != kinds.UNKNOWN and reached[call.host] == writes:
                found[at] = UNCHANGED
            else:
                is_of_stream = calls[before].stream == call.stream
                found[before] = UNREAD if before not in waited and is_of_stream else OVERWRITTEN
        last[call.host], reached[call.host] = at, writes
        if is_waited:
            waited.add(at)
    return found
