"""The JSON form of a workload, word by word: what may stand there, and the numbers that it means."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from simtmm.errors import WorkloadError, nearest, shown
from simtmm.stalls import CLASSES
from simtmm.workload.operations import (
    ACTION_SHIFT,
    BARRIER,
    COMPUTE,
    COPY,
    DRAIN,
    FINISH,
    GIVE_REGISTERS,
    GRID_BARRIER,
    JOIN,
    LARGEST,
    LISTED,
    LOAD,
    MBARRIER,
    MBARRIER_ACTIONS,
    MOST_MBARRIER_COUNT,
    MOST_MBARRIER_NUMBER,
    MOST_PASSES,
    MOST_REGISTERS,
    MOST_SECTOR_BYTES,
    MOST_SECTORS,
    MOST_STEPS,
    MOST_UNDRAINED,
    MOST_UNFINISHED,
    MOST_UNSETTLED,
    NUMBER_SHIFT,
    OF_CLASS,
    OPERATIONS,
    PASSES_SHIFT,
    PRODUCT,
    REMOTE,
    REMOTE_SHIFT,
    SECTOR_BITS,
    SETTLE,
    SHARED,
    STEPS_SHIFT,
    STORE_GROUP,
    SYNC,
    TAKE_REGISTERS,
)


class ReadOperation(NamedTuple):
    """An operation as the arrays of a workload have it.

    kind, amount: its entries of `Workload.kind` and `Workload.amount`.
    chunks: the chunks that it lists.
    sectors: of each of these, the bytes that are accessed of its sectors, as `Workload.sectors` has them.
    """

    kind: int
    amount: int
    chunks: Sequence[int] = ()
    sectors: Sequence[int] = ()


ABSENT = object()  # what no document can give
BARE = (BARRIER, SYNC, GRID_BARRIER, STORE_GROUP)
LEFT_OUT = (JOIN, SETTLE, FINISH, DRAIN)  # whose number is of the latest that they leave out
MOST = {
    SETTLE: MOST_UNSETTLED, FINISH: MOST_UNFINISHED, DRAIN: MOST_UNDRAINED, REMOTE: MOST_PASSES,
    **dict.fromkeys((GIVE_REGISTERS, TAKE_REGISTERS), MOST_REGISTERS),
}  # fmt: skip
"""The largest number of an operation; LARGEST, if it does not stand here."""
ARGUMENTS = {
    **dict.fromkeys(LEFT_OUT, (0, 1)), **dict.fromkeys((COMPUTE, PRODUCT, SHARED), (1, 2)),
    **dict.fromkeys(BARE, (0, 0)), **dict.fromkeys(range(LOAD, COPY + 1), (1, 3)), MBARRIER: (3, 4),
}  # fmt: skip
"""How many arguments an operation takes, at least and at most; one, if it does not stand here."""


def read_operation(operation: Any) -> ReadOperation:
    """What an operation in the JSON form means, such as ["compute", 4]. Raises WorkloadError without a place."""
    if not isinstance(operation, Sequence) or isinstance(operation, str) or not operation:
        raise WorkloadError(f"{shown(operation)} is not an operation: must be a list such as ['compute', 4]")
    word, *arguments = operation
    if word not in OPERATIONS:
        raise WorkloadError(f"unknown operation {shown(word)}{nearest(str(word), OPERATIONS)}")
    kind = OPERATIONS.index(word)
    allowed = ARGUMENTS.get(kind, (1, 1))
    if not allowed[0] <= len(arguments) <= allowed[1]:
        raise WorkloadError(f"{word} takes {how_many(*allowed)}, not {len(arguments)}")
    if LOAD <= kind <= COPY:
        return _read_access(kind, *arguments)
    if kind in BARE:
        return ReadOperation(kind, 0)
    if kind == MBARRIER:
        return ReadOperation(kind, mbarrier_amount(arguments))
    if kind == PRODUCT:
        return ReadOperation(kind, product_amount(arguments))
    return _read_counted(kind, *arguments)


def _read_access(kind: int, chunks: Any, passes: Any = 1, sectors: Any = ABSENT) -> ReadOperation:
    """An operation that lists chunks, from its arguments."""
    word = OPERATIONS[kind]
    if not isinstance(chunks, Sequence) or isinstance(chunks, str) or not chunks:
        raise WorkloadError(f"{word} {shown(chunks)}: must be a list of at least one chunk")
    for chunk in chunks:
        if not is_whole(chunk, 0):
            raise WorkloadError(f"{word}: chunk {shown(chunk)}: must be a whole number from 0 to 2^63 - 1")
    if not is_whole(passes, 1) or passes > MOST_PASSES:
        raise WorkloadError(f"{word}: passes {shown(passes)}: must be a whole number from 1 to {MOST_PASSES}")
    sectors = [[]] * len(chunks) if sectors is ABSENT else sectors
    if not isinstance(sectors, Sequence) or isinstance(sectors, str) or len(sectors) != len(chunks):
        raise WorkloadError(f"{word}: sectors {shown(sectors)}: must be a list, an entry for each chunk")
    amount = len(chunks) + (int(passes) - 1 << PASSES_SHIFT)
    return ReadOperation(kind, amount, chunks, [packed_bytes(word, of_chunk) for of_chunk in sectors])


def _read_counted(kind: int, amount: Any = 0, argument: Any = ABSENT) -> ReadOperation:
    """An operation with a number: instructions, cycles, a degree, or how many are left. argument: what follows it."""
    word, least = OPERATIONS[kind], 0 if kind in LEFT_OUT else 1
    if not is_whole(amount, least):
        raise WorkloadError(f"{word} {shown(amount)}: must be a whole number of at least {least}")
    most = MOST.get(kind, LARGEST)
    if amount > most:
        raise WorkloadError(f"{word} {amount}: must be at most {most}")
    if kind == SHARED:
        return ReadOperation(kind, shared_amount(int(amount), 1 if argument is ABSENT else argument))
    if argument is ABSENT:
        return ReadOperation(kind, amount)
    if argument not in CLASSES:
        raise WorkloadError(f"{word}: unknown class {shown(argument)}{nearest(str(argument), CLASSES)}")
    return ReadOperation(OF_CLASS + CLASSES.index(argument), amount)


def operation_words(kind: int, amount: int, chunks: Sequence[int], sectors: Sequence[int]) -> list[Any]:
    """An operation in the JSON form: ["compute", 4, "fp64"], ["load", [0, 1]], ["barrier"].

    kind, amount, chunks, sectors: as a workload has them (`ReadOperation`); no sectors, or only 0, of whole chunks.
    """
    if LOAD <= kind <= COPY:
        passes = 1 + (amount >> PASSES_SHIFT)
        more = [passes, [unpacked_bytes(word) for word in sectors]] if any(sectors) else [passes]
        return [OPERATIONS[kind], chunks, *(more if more != [1] else [])]
    if kind == SHARED and amount > LISTED:
        return [OPERATIONS[kind], amount & LISTED, 1 + (amount >> PASSES_SHIFT)]
    if kind == MBARRIER:
        return mbarrier_words(amount)
    if kind == PRODUCT:
        steps, passes = amount & LISTED, amount >> STEPS_SHIFT
        return [OPERATIONS[kind], steps, *([passes] if passes else [])]
    if kind >= OF_CLASS:
        return [OPERATIONS[COMPUTE], amount, CLASSES[kind - OF_CLASS]]
    return [OPERATIONS[kind]] if kind in BARE else [OPERATIONS[kind], amount]


def shared_amount(degree: int, least: Any) -> int:
    """The amount of a shared. least: its degree without conflicts."""
    if degree > LISTED:
        raise WorkloadError(f"shared {degree}: must be at most {LISTED}")
    if not is_whole(least, 1) or least > min(degree, MOST_PASSES):
        raise WorkloadError(
            f"shared {degree}, {shown(least)}: must be a whole number from 1 to {min(degree, MOST_PASSES)}"
        )
    return degree + (int(least) - 1 << PASSES_SHIFT)


def packed_bytes(word: str, of_chunk: Any) -> int:
    """The bytes that are accessed of each sector of a chunk, as a workload has them."""
    if not isinstance(of_chunk, Sequence) or isinstance(of_chunk, str) or len(of_chunk) > MOST_SECTORS:
        raise WorkloadError(f"{word}: sectors {shown(of_chunk)}: must be a list of at most {MOST_SECTORS} for a chunk")
    for number in of_chunk:
        if not is_whole(number, 0) or number > MOST_SECTOR_BYTES:
            raise WorkloadError(
                f"{word}: bytes of a sector {shown(number)}: must be a whole number from 0 to {MOST_SECTOR_BYTES}"
            )
    return sum(int(number) << SECTOR_BITS * sector for sector, number in enumerate(of_chunk))


def unpacked_bytes(word: int) -> list[int]:
    """The bytes of each sector of a chunk, as the JSON form has them, of what a workload has."""
    found = []
    while word:
        found.append(word & MOST_SECTOR_BYTES)
        word >>= SECTOR_BITS
    return found


def is_whole(value: Any, least: int) -> bool:
    """Whether a value is a whole number from `least` to LARGEST."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and least <= int(value) <= LARGEST


def how_many(least: int, most: int) -> str:
    """So many arguments of an operation, in words."""
    if most == 0:
        return "no argument"
    if least > 1:
        return "three or four arguments"
    if most > 1:
        return "one or two arguments" if most == 2 else "one to three arguments"
    return "one argument" if least == most else "at most one argument"


def launches_in(tables: Any, origin: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The launches of a JSON document, each with the path to it."""
    check_keys(tables, {"blocks", "launches", "blocks_per_group", "in_graph", "cluster"}, set(), "the workload", origin)
    if ("blocks" in tables) == ("launches" in tables):
        raise WorkloadError(f"{origin}: must have either 'blocks' or 'launches'")
    if "blocks" in tables:
        yield "", tables
        return
    check_keys(tables, {"launches"}, {"launches"}, "the workload", origin)
    for index, launch in enumerate(list_of(tables["launches"], "launches", origin)):
        check_keys(
            launch, {"blocks", "blocks_per_group", "in_graph", "cluster"}, {"blocks"}, f"launches[{index}]", origin
        )
        yield f"launches[{index}].", launch


def check_keys(table: Any, known: set[str], needed: set[str], place: str, origin: str) -> None:
    """Raise WorkloadError for what is no object, has a key that is not known, or lacks one that is needed."""
    if not isinstance(table, Mapping):
        raise WorkloadError(f"{origin}: {place}: must be an object with {', '.join(sorted(needed or known))}")
    for key in table:
        if key not in known:
            raise WorkloadError(f"{origin}: {place}: unknown key {shown(key)}{nearest(str(key), known)}")
    for key in needed - set(table):
        raise WorkloadError(f"{origin}: {place}: {key!r} is missing")


def list_of(value: Any, place: str, origin: str) -> Sequence[Any]:
    """The list that stands at a place. Raises WorkloadError for anything else."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise WorkloadError(f"{origin}: {place} = {shown(value)}: must be a list")
    return value


def mbarrier_amount(arguments: Sequence[Any]) -> int:
    """The amount of an mbarrier: what is done, the barrier's number, a count, and whether another block does it."""
    action, number, count = arguments[:3]
    remote = arguments[3] if len(arguments) > 3 else 0
    if action not in MBARRIER_ACTIONS:
        raise WorkloadError(f"mbarrier: unknown action {shown(action)}{nearest(str(action), MBARRIER_ACTIONS)}")
    least = 1 if action in ("init", "arrive", "meet", "arrive-copied") else 0
    most = 1 if action == "wait" else MOST_MBARRIER_COUNT
    for what, value, lowest, highest in (
        ("number", number, 0, MOST_MBARRIER_NUMBER), ("count", count, least, most), ("remote", remote, 0, 1),
    ):  # fmt: skip
        if not is_whole(value, lowest) or value > highest:
            raise WorkloadError(
                f"mbarrier {action}: {what} {shown(value)}: must be a whole number from {lowest} to {highest}"
            )
    of_action = MBARRIER_ACTIONS.index(action) << ACTION_SHIFT
    return of_action + (int(remote) << REMOTE_SHIFT) + (int(number) << NUMBER_SHIFT) + int(count)


def mbarrier_words(amount: int) -> list[Any]:
    """Likewise, as the JSON form has it."""
    remote = amount >> REMOTE_SHIFT & 1
    words = [MBARRIER_ACTIONS[amount >> ACTION_SHIFT], amount >> NUMBER_SHIFT & MOST_MBARRIER_NUMBER]
    return [OPERATIONS[MBARRIER], *words, amount & MOST_MBARRIER_COUNT, *([1] if remote else [])]


def product_amount(arguments: Sequence[Any]) -> int:
    """The amount of a product: its steps, and the passes that its factors take the banks."""
    steps, passes = arguments[0], arguments[1] if len(arguments) > 1 else 0
    for what, value, least in (("steps", steps, 1), ("passes", passes, 0)):
        if not is_whole(value, least) or value > MOST_STEPS:
            raise WorkloadError(f"product: {what} {shown(value)}: must be a whole number from {least} to {MOST_STEPS}")
    return int(steps) + (int(passes) << STEPS_SHIFT)
