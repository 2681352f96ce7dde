"""A thread of a kernel as written that goes round for ever, in words: where, what it reads, who else runs."""

from collections.abc import Sequence

import numpy as np

from simtmm.errors import LivelockError, RecordingError
from simtmm.kernel import Kernel, Launch
from simtmm.recorder.cpu.messages import Fault
from simtmm.recorder.faults import fault_place
from simtmm.recorder.global_memory import GlobalMemory
from simtmm.trace.schema import Events, Kind, TraceSite

_MOST_NAMED = 3  # of what is read
_READ = {Kind.LOAD: "reads", Kind.ASYNC: "reads", Kind.ATOMIC: "tries to update"}
_SHARED = {Kind.SHARED_LOAD: "reads", Kind.SHARED_ATOMIC: "tries to update"}
_SITE_BITS = 0x7FFFFFFF  # the highest says of a store whether it changed anything


def goes_round(
    where: str,
    kernel: Kernel,
    sites: Sequence[TraceSite],
    memory: GlobalMemory,
    launch: Launch,
    fault: Fault,
    events: Events,
) -> RecordingError:
    """The error of a thread that was found to go round for ever.

    fault: its place, of whose fields `index` counts the threads of its block that come later. events: those of a round,
    or the last of them. A LivelockError where no thread is left that comes later and could change what it reads.
    """
    place = fault_place(kernel, sites, fault.site, fault.block, fault.thread)
    threads = len(np.unique(events["thread"]))
    who = f"{threads:,} threads loop" if threads > 1 else "loops"
    words = _words(kernel, sites, memory, events)
    reads = f": {', '.join(words)}" if words else ", and reads nothing there that could change"
    text = f"{where}: {place}: {who} for ever{reads}"
    blocks, waits = launch.blocks - fault.block - 1, bool((events["kind"] == Kind.BARRIER).any())
    later = 0 if waits else fault.index  # behind a barrier all threads of the block go on
    others = [_counted(count, noun) for count, noun in ((later, "thread"), (blocks, "block")) if count]
    if not others:
        return LivelockError(f"{text}; no other thread remains that could change it")
    come = "comes" if later + blocks == 1 else "come"
    return RecordingError(
        f"{text}; {' and '.join(others)} {come} later: as written, a thread runs up to its next barrier before another "
        "does, and a block before the next; as compiled (--as compiled) they take turns"
    )


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' if count > 1 else ''}"


def _words(kernel: Kernel, sites: Sequence[TraceSite], memory: GlobalMemory, events: Events) -> list[str]:
    """What is read in a round, each once: where, which element, and its value."""
    found: dict[tuple[int, int], str] = {}
    for event in events:
        number, value, kind = int(event["site"]) & _SITE_BITS, int(event["value"]), int(event["kind"])
        if (number, value) in found or not (kind in _READ or kind in _SHARED):
            continue
        at = f"{kernel.folder / sites[number].file}:{sites[number].line}"
        if kind in _READ:
            found[number, value] = f"{at} {_READ[Kind(kind)]} {_element(memory, value)}"
        else:
            array = sites[value >> 32].source
            found[number, value] = f"{at} {_SHARED[Kind(kind)]} byte {value & 0xFFFFFFFF} of `{array}`"
        if len(found) > _MOST_NAMED:
            return [*list(found.values())[:_MOST_NAMED], "and others"]
    return list(found.values())


def _element(memory: GlobalMemory, address: int) -> str:
    """An element of an array by its address, and its value."""
    name = next(name for name, base in reversed(memory.bases.items()) if base <= address)
    array, offset = memory.arrays[name], address - memory.bases[name]
    index = offset // array.dtype.itemsize
    return f"index {index} of {name}: it is {array.reshape(-1)[index]}"
