"""Cases that together have every form of machine code that any case makes: opcodes, their modifiers, kinds of operands.

`python -m tests.cuda.sass.covering` finds them anew, by assembling every case for each architecture, and writes
tests/golden/covering.json: their names by architecture, each with what the architectures before it lack.
"""

import json
import re
from collections.abc import Sequence

from simtmm.cuda.compilers.binaries.disassembly import disassembled
from simtmm.cuda.sass.listing import parse_listing
from simtmm.cuda.sass.syntax import MachineInstruction
from simtmm.errors import CompilerError
from tests.cuda.cases import Case, every_case
from tests.cuda.cases.executed import ENTRY
from tests.whole import ROOT

KEPT = ROOT / "tests" / "golden" / "covering.json"
ARCHITECTURES = (90, 75, 120, 80)
OPEN = {"bfi.b64", "bfe.s64", "bfe.u64"}  # of places and lengths beyond 255, which the manual leaves to the assembler
AT_ONCE = 60  # cases that are assembled as kernels of one module


def covering() -> dict[int, list[str]]:
    """The names of the cases by architecture."""
    return {int(number): names for number, names in json.loads(KEPT.read_text(encoding="utf-8")).items()}


def forms(cases: Sequence[Case], architecture: int) -> dict[str, set[str]]:
    """The forms of machine code that each case makes; nothing of those that the assembler refuses."""
    heads, kernels = set(), []
    for number, case in enumerate(cases):
        found = ENTRY.fullmatch(case.text)
        assert found, f"{case.name} is not written by tests.cuda.cases.kernel"
        heads.add(found["head"])
        given = ", ".join(f".param .u64 p{at}" for at in range(len(case.arrays)))
        kernels.append(f".visible .entry k{number}({given})\n{{\n{found['body']}\n  ret;\n}}\n")
    head = re.sub(r"\.target \S+", f".target sm_{architecture}", max(heads, key=len))
    try:
        disassembly = disassembled(head + "".join(kernels), f"sm_{architecture}")
    except CompilerError:
        if len(cases) == 1:
            return {}
        half = len(cases) // 2
        return forms(cases[:half], architecture) | forms(cases[half:], architecture)
    listings = [parse_listing(disassembly.code_of(name), name) for name in (f"k{each}" for each in range(len(cases)))]
    return {
        case.name: {form for each in listing.instructions for form in _forms_of(each)}
        for case, listing in zip(cases, listings, strict=True)
    }


def _forms_of(instruction: MachineInstruction) -> set[str]:
    operands = (
        "".join((type(each).__name__, getattr(each, "part", ""), *(
            name for name in ("negative", "absolute", "inverted") if getattr(each, name, False))))
        for each in instruction.operands
    )  # fmt: skip
    opcode = instruction.opcode
    return {opcode, f"{opcode} {' '.join(operands)}", *(f"{opcode}.{each}" for each in instruction.modifiers)}


def chosen(made: dict[str, set[str]], known: set[str]) -> list[str]:
    """The fewest cases, or nearly so, that have all forms that are not known."""
    left = set().union(*made.values()) - known
    found = []
    while left:
        best = max(made, key=lambda name: (len(made[name] & left), name))
        left -= made[best]
        found.append(best)
    return sorted(found)


def main() -> None:
    """Find them anew."""
    cases = [case for case in every_case().values() if case.name not in OPEN]
    known, names = set[str](), dict[int, list[str]]()
    for architecture in ARCHITECTURES:
        made: dict[str, set[str]] = {}
        for at in range(0, len(cases), AT_ONCE):
            made |= forms(cases[at : at + AT_ONCE], architecture)
        names[architecture] = chosen(made, known)
        known = known.union(*made.values())
    KEPT.write_text(json.dumps(names, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
