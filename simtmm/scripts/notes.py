"""What a run of a script reports at its end: operations that were not recorded, and sentences of adapters."""

from collections import Counter

_unrecorded: Counter[str] = Counter()
_sentences: dict[str, None] = {}


def unrecorded(operation: str) -> None:
    """Count an operation that a GPU would run as a kernel, and that was run on the CPU instead, as "cupy.sort"."""
    _unrecorded[operation] += 1


def note(sentence: str) -> None:
    """Add a sentence to the report, once however often it comes."""
    _sentences[sentence] = None


def unrecorded_so_far() -> int:
    """How many operations have been counted."""
    return _unrecorded.total()


def leaves_out(function: str, operations: int) -> None:
    """Say that a time that a script has read knows nothing of operations that were run on the CPU.

    function: that told it. operations: from its beginning to its end.
    """
    if operations > 0:
        note(f"{function}: its times leave out what is not recorded, which on a GPU are kernels and take theirs.")


def taken() -> tuple[list[tuple[str, int]], list[str]]:
    """Operations with their counts, the most frequent first, and sentences; gone with it."""
    found = _unrecorded.most_common(), list(_sentences)
    _unrecorded.clear()
    _sentences.clear()
    return found
