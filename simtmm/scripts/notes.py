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


def taken() -> tuple[list[tuple[str, int]], list[str]]:
    """Operations with their counts, the most frequent first, and sentences; gone with it."""
    found = _unrecorded.most_common(), list(_sentences)
    _unrecorded.clear()
    _sentences.clear()
    return found
