"""The measured programs at small sizes, as a whole: arrays, launches and what must come out.

`python -m tests.validation.test_whole` writes them anew (tests/golden/outputs), where they are meant to differ.
"""

import hashlib
import inspect
import json

import numpy as np
import pytest

from simtmm.validation.compiled.programs import CASES
from tests.whole import OUTPUTS

FILE = OUTPUTS / "measured-programs.json"
SMALL = {  # two sizes of each parameter, whose parts leave something over where a program allows it
    "n": (1024, 4096), "threads": (64, 96), "blocks": (3, 8), "iterations": (1, 5), "side": (8, 32), "vectors": (2, 5),
    "elements": (96, 256), "length": (128, 512), "log2data": (12, 15), "log2kernel": (3, 6), "kilobytes": (1024, 3072),
    "underway": (0, 2), "trips": (1, 3),
}  # fmt: skip
OWN = {  # where arrays would be too large, or sizes are given
    "gemm": {"n": (33, 64)}, "syrk": {"n": (33, 64)}, "mvt": {"n": (33, 64)}, "convolution-3d": {"n": (9, 16)},
    "copy": {"n": (32, 80)}, "transpose": {"n": (32, 80)}, "lud": {"n": (8, 50)},
}  # fmt: skip
MATRICES = {"n": (32, 80)}


def in_short(array):
    """An array's type, shape, some of its numbers, and their sum."""
    flat = np.asarray(array).reshape(-1)
    numbers = [*flat[:: max(1, flat.size // 5)].tolist(), float(flat.astype(np.float64).sum())]
    return {
        "type": str(flat.dtype),
        "shape": list(np.shape(array)),
        "numbers": [float(f"{each:.7g}") for each in numbers],
    }


def told(name, which):
    """A case, with the first or the second size of each of its parameters."""
    of = CASES[name]
    sizes = {**SMALL, **OWN.get(name, MATRICES if "_of_matrices" in of.__qualname__ else {})}
    given = {parameter: sizes[parameter][which] for parameter in inspect.signature(of).parameters}
    case = of(**given)
    return {
        "given": given,
        "source": case.source,
        "launches": len(case.launches),
        "first and last": [repr(each) for each in (case.launches[0], case.launches[-1])],
        "all": hashlib.sha256(repr(case.launches).encode()).hexdigest()[:12],
        "arrays": {array: in_short(values) for array, values in case.arrays.items()},
        "expected": {array: in_short(values) for array, values in case.expected.items()},
    }


def numbers_apart(cases):
    """All numbers of arrays, which are taken out."""
    arrays = [array for case in cases for part in ("arrays", "expected") for array in case[part].values()]
    return [number for array in arrays for number in array.pop("numbers")]


@pytest.mark.parametrize("name", CASES)
def test_a_measured_program_is_what_it_was(name):
    found = json.loads(json.dumps([told(name, which) for which in (0, 1)]))
    known = json.loads(FILE.read_text(encoding="utf-8"))[name]
    # Sums of products of float32 differ with a computer's order of adding: by less than a thousand of its roundings.
    assert numbers_apart(found) == pytest.approx(numbers_apart(known), rel=1e-4)
    assert found == known


if __name__ == "__main__":
    made = {name: [told(name, which) for which in (0, 1)] for name in CASES}
    FILE.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
