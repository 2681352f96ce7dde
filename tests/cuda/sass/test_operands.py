"""Operands of machine instructions: of each place the kinds that are lifted there; with all others it is refused.

tests/golden/machine_operands.txt has the table. `python -m tests.cuda.sass.test_operands` writes it anew, where it is
meant to differ: read it before you keep it.
"""

import pytest

from tests.cuda.sass.test_modifiers import ARCHITECTURES, VALID, complaint
from tests.whole import ROOT

FILE = ROOT / "tests" / "golden" / "machine_operands.txt"
KINDS = {
    "register": "R7", "minus": "-R7", "absolute": "|R7|", "inverted": "~R7", "half": "R7.H1_H1", "byte": "R7.B1",
    "zero": "RZ", "uniform": "UR6", "predicate": "P3", "not": "!P3", "whole": "0x7", "real": "1.5", "infinite": "+INF",
    "constant": "c[0x0][0x28]", "minus constant": "-c[0x0][0x28]", "indexed": "c[0x0][R3+0x28]", "address": "[R8]",
}  # fmt: skip


def split(text):
    """The operands of an instruction: commas in brackets and braces are no ends."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "[{(") - (letter in "]})")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def row(text):
    """An instruction, the kinds that are lifted in each place, and whether it may have an operand less or more."""
    architecture = next(each for each in ARCHITECTURES if complaint(text, each) is None)
    opcode, _, rest = text.partition(" ")
    operands = split(rest)

    def is_lifted(given):
        return complaint(f"{opcode} {', '.join(given)}".strip(), architecture) is None

    places = []
    for at in range(len(operands)):
        lifted = {kind for kind, word in KINDS.items() if is_lifted([*operands[:at], word, *operands[at + 1 :]])}
        most = len(lifted) > len(KINDS) / 2
        told = ", ".join(kind for kind in KINDS if (kind in lifted) != most)
        places.append(f"all but {told}" if most else told or "as it is")
    less, more = bool(operands) and is_lifted(operands[:-1]), is_lifted([*operands, "R7"])
    return [text, *places, *["one less"] * less, *["one more"] * more]


@pytest.fixture(scope="module")
def known():
    lines = FILE.read_text(encoding="utf-8").splitlines()
    return {line.partition("\t")[0]: line.split("\t") for line in lines}


@pytest.mark.parametrize("text", VALID)
def test_each_place_takes_the_kinds_of_operands_that_it_took(known, text):
    assert row(text) == known[text]


def test_each_row_is_of_an_instruction(known):
    assert list(known) == list(VALID)


if __name__ == "__main__":
    FILE.write_text("".join("\t".join(row(text)) + "\n" for text in VALID), encoding="utf-8")
