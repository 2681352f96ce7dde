"""The letters of a machine in the papers' algorithms, P, Q, L, C, X and Z: of a machine, or of arrays of values."""

import operator
from typing import Any

from simtmm.machine import Machine
from simtmm.model.equations.functions import Value


def letters_of(machine: Machine) -> dict[str, float]:
    """The machine's letters; Z, in words, only where it has shared memory."""
    return letters(**{name: value for key, name in KEYS.items() if (value := _at(machine, key)) is not None})


# The keys of machines that letters are made of
KEYS = {
    "cores.groups": "groups",
    "cores.cores_per_group": "cores_per_group",
    "cores.max_threads_per_core": "max_threads_per_core",
    "memory.latency": "latency",
    "memory.chunk_words": "chunk_words",
    "memory.word_bytes": "word_bytes",
    "resources.shared_memory": "shared_memory",
}


def letters(
    groups: Value,
    cores_per_group: Value,
    max_threads_per_core: Value,
    latency: Value,
    chunk_words: Value,
    word_bytes: Value,
    shared_memory: Value | None = None,
) -> dict[str, Any]:
    """The letters of a machine with these values, numbers or arrays; Z, in words, where it has shared memory.

    groups, cores_per_group, max_threads_per_core, chunk_words, word_bytes: as in a machine's file.
    latency: of global memory, L [cycles].
    shared_memory: bytes of a group; None for none.
    """
    values = {
        "P": groups * cores_per_group,
        "Q": cores_per_group,
        "L": latency,
        "C": chunk_words,
        "X": max_threads_per_core,
    }
    return values if shared_memory is None else values | {"Z": shared_memory / word_bytes}


def _at(machine: Machine, key: str) -> float | None:
    value = operator.attrgetter(key)(machine)
    return None if value is None else float(value)
