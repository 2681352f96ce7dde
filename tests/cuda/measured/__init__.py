"""What an H100 gave on 2026-11-26 (driver 580.159.04, CUDA 13.0), of what is computed here.

h100_cases.json: of the exact cases of one instruction (tests/cuda/cases), by name, the beginnings of two digests: of
the case with what it is given, and of what the GPU left in its arrays.
h100_functions.npz: of instructions that were run on thousands of numbers, some rows: "INSTRUCTION|place|type", operands
in order and last what the GPU gave, as bits.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from tests.cuda.cases.case import Case

HERE = Path(__file__).resolve().parent


@cache
def known() -> dict[str, tuple[str, str]]:
    """By a case's name the digests of what it is given and of what the GPU gave."""
    found = json.loads((HERE / "h100_cases.json").read_text(encoding="utf-8"))
    return {name: tuple(digests.split()) for name, digests in found.items()}


def _digest(parts: Sequence[bytes], length: int) -> str:
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:length]


def given(case: Case) -> str:
    """The digest of a case and of its arrays at first."""
    return _digest([case.text.encode(), *(array.tobytes() for _, array in case.arrays)], 8)


def is_measured(case: Case) -> bool:
    """Whether the GPU ran the case as it is."""
    return known().get(case.name, ("", ""))[0] == given(case)


def agrees(case: Case, arrays: Sequence[np.ndarray]) -> bool:
    """Whether arrays are what the GPU left, of a case that it ran."""
    return known()[case.name][1] == _digest([array.tobytes() for array in arrays], 16)


def functions() -> Iterator[tuple[str, list[tuple[str, np.ndarray]]]]:
    """By an instruction's name its operands and what the GPU gave: types and bits."""
    rows: dict[str, list[tuple[str, np.ndarray]]] = {}
    with np.load(HERE / "h100_functions.npz") as held:
        for key in held.files:
            name, _, kind = key.split("|")
            rows.setdefault(name, []).append((kind, held[key]))
    yield from rows.items()
