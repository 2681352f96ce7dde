"""What every case gives, as digests that stand in tests/golden/cases.json: found right by the interpreter, it need not
run again for what is still the same. `python -m tests.cuda.cases.kept` writes them anew, and takes two minutes."""

import hashlib
import json
import random
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from tests.cuda.cases import Case, every_case
from tests.cuda.cases.executed import executed
from tests.cuda.cases.interpreted import interpreted
from tests.cuda.measured import agrees, is_measured
from tests.whole import ROOT

KEPT = ROOT / "tests" / "golden" / "cases.json"
PARTS = 46  # kernels that all cases are dealt to
SEED = 7


def part_of(part: int) -> list[Case]:
    """The cases of a part."""
    cases = list(every_case().values())
    random.Random(SEED).shuffle(cases)
    return cases[part::PARTS]


def kept() -> dict[str, str]:
    """The digest of each case with what it gives, by the case's name."""
    found: dict[str, str] = json.loads(KEPT.read_text(encoding="utf-8"))
    return found


def digest(case: Case, arrays: Sequence[np.ndarray]) -> str:
    """Of a case, what it is given, and the arrays that it leaves."""
    parts = [case.text.encode(), *(array.tobytes() for _, array in case.arrays), *(array.tobytes() for array in arrays)]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def differences(
    cases: Sequence[Case],
    run: Callable[[Sequence[Case]], Sequence[list[np.ndarray]]] = executed,
    as_ptx: bool = True,
) -> Iterator[str]:
    """What differs from the interpreter's results, as lines; it is asked where the kept digests do not match.

    What an H100 gave must be there too, where it ran the case: of PTX, since machine code may keep another NaN.
    """
    known = kept()
    for case, found in zip(cases, run(cases), strict=True):
        if as_ptx and is_measured(case) and not agrees(case, found):
            yield f"{case.name}: not what an H100 gave"
        if known.get(case.name) != digest(case, found):
            yield from case.differences(interpreted(case), found)


def main() -> None:
    """Write the digests of what every case gives, where the interpreter agrees."""
    found: dict[str, str] = {}
    for part in range(PARTS):
        cases = part_of(part)
        for case, arrays in zip(cases, executed(cases), strict=True):
            if not case.differences(interpreted(case), arrays):
                found[case.name] = digest(case, arrays)
    KEPT.write_text(json.dumps(dict(sorted(found.items())), indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
