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

# What is lifted, and beside it what has one thing more, less or other that its meaning is not known with
PAIRS = (
    ("SYNCS.ARRIVE.TRANS64.RED.A0TR RZ, [UR4], R0", "SYNCS.ARRIVE.TRANS64.RED.A0TR.OPTOUT RZ, [UR4], R0"),
    ("RED.E.ADD.F32.FTZ.RN [R2.64], R4", "RED.E.ADD.F32.RN [R2.64], R4"),
    ("ATOM.E.ADD.F32.FTZ.RN PT, R0, [R2.64], R4", "ATOM.E.ADD.F32.FTZ PT, R0, [R2.64], R4"),
    ("ATOM.E.ADD.64 PT, R0, [R2.64], R4", "ATOM.E.ADD.S32.64 PT, R0, [R2.64], R4"),
    ("ATOM.E.CAS.128 PT, R0, [R2.64], R4, R8", "ATOM.E.CAS.128 PT, R0, [R2.64], 0x4, R8"),
    ("ATOMS.CAST.SPIN R0, [R2], R4, R5", "ATOMS.CAST.SPIN P0, R0, [R2], R4, R5"),
    ("ATOMS.POPC.INC.32 RZ, [R2]", "ATOMS.POPC.INC.32 R3, [R2]"),
    ("FLO.U32 R0, PT, R1", "FLO.U32 R0, P0, R1"),
    ("BREAK P0, B0", "BREAK P0, P1, B0"),
    ("I2F.U8 R0, R1.B1", "I2F.U8 R0, R1.H1"),
    ("I2F.U16 R0, R1.H1", "I2F.U16 R0, R1.B1"),
    ("I2F.U8 R0, R1.B2", "I2F.U8 R0, -R1.B2"),
    ("I2F.U8 R0, R1.B3", "I2F.U8 R0, |R1|.B3"),
    ("F2FP.F16.F32.PACK_AB R0, R1, R2", "F2FP.F16.F32.PACK_B R0, R1, R2"),
    ("DADD R0, R2, R4", "DADD R0, R2, R4, R6"),
    ("DFMA R0, R2, R4, R6", "DFMA R0, R2, R4"),
    ("DSETP.MIN.AND P0, P1, R2, R4, PT", "DSETP.MIN.OR P0, P1, R2, R4, PT"),
    ("DSETP.MAX.AND P0, P1, R2, R4, PT", "DSETP.MAX.AND P0, P1, R2, R4, P2"),
    ("HADD2 R0, R1.H0_H0, R2.H1_H1", "HADD2 R0, R1.B0, R2"),
    ("HADD2.F32 R0, -RZ, R1.H0_H0", "HADD2.F32 R0, R2.H0_H0, R1.H0_H0"),
    ("HADD2.F32 R0, -RZ, R1.H1_H1", "HADD2.F32 R0, -RZ, R1"),
    ("HADD2.F32 R0, -RZ, R1.H1_H1", "HMUL2.F32 R0, -RZ, R1.H1_H1"),
    ("HADD2.F32 R0, -RZ, R1.H1_H1", "HADD2.F32.FTZ R0, -RZ, R1.H1_H1"),
    ("HMNMX2 R0, R1, R2, PT", "HMNMX2 R0, R1, R2, R3, PT"),
    ("FADD R0, R1, R2", "FADD R0, R1, R2, R3"),
    ("FFMA R0, R1, R2, R3", "FFMA R0, R1, R2"),
    ("FMNMX R0, R1, R2, PT", "FMNMX R0, R1, R2, R3, PT"),
    ("FMNMX.XORSIGN R0, |R1|, |R2|, PT", "FMNMX.XORSIGN R0, |R1|, R2, PT"),
    ("FMNMX.XORSIGN R0, |R1|, |R2|, !PT", "FMNMX.XORSIGN R0, -|R1|, |R2|, PT"),
    ("IADD3 R0, R1, -R2, RZ", "IADD3.ISAT R0, P0, R1, -R2, RZ"),
    ("IADD3 R0, P0, R1, R2, R3", "IADD3.X R0, P0, R1, R2, R3"),
    ("IADD3.X R0, R1, R2, R3, P0, !PT", "IADD3 R0, R1, R2, R3, P0, !PT"),
    ("IMAD R0, R1, R2, R3", "IMAD R0, P0, R1, R2, R3"),
    ("IMAD.X R0, R1, R2, R3, P0", "IMAD R0, R1, R2, R3, P0"),
    ("IMAD.WIDE.U32 R0, P0, R2, R3, R4", "IMAD.WIDE.U32 R0, P0, -R2, R3, R4"),
    ("IMAD.WIDE.U32 R0, P0, R2, R3, R4", "IMAD.WIDE.U32 R0, P0, R2, R3, -R4"),
    ("IMAD.HI.U32 R0, R2, R3, R4", "IMAD.HI.U32 R0, R2, R3, -R4"),
    ("LEA R0, P0, R1, R2, 0x2", "LEA.X R0, P0, R1, R2, 0x2"),
    ("LEA.HI.X R0, R1, R2, R3, 0x2, P0", "LEA.HI.X R0, -R1, R2, R3, 0x2, P0"),
    ("LEA.HI R0, R1, R2, R3, 0x2", "LEA.HI R0, P0, -R1, R2, R3, 0x2"),
    ("LDG.E.64 R0, [R2.64]", "LDG.E.U8.64 R0, [R2.64]"),
    ("LDG.E.128 R0, [R2.64]", "LDG.E.S16.128 R0, [R2.64]"),
    ("VIMNMX.S16x2 R0, R1, R2, PT", "VIMNMX.S16x2 R0, -R1, R2, PT"),
    ("VIMNMX.RELU R0, R1, R2, PT", "VIMNMX.U32.RELU R0, R1, R2, PT"),
    ("VIMNMX.U16x2 R0, R1, R2, PT", "VIMNMX.U16x2.RELU R0, R1, R2, PT"),
    ("VIADDMNMX R0, R1, R2, R3, PT", "VIADDMNMX.U32.RELU R0, R1, R2, R3, PT"),
    ("VIADDMNMX.S16x2 R0, R1, R2, R3, PT", "VIADDMNMX.S16x2 R0, R1, R2, -R3, PT"),
    ("I2I.S16.S32.SAT R0, R1", "I2I.S16.S32 R0, R1"),
    ("CS2R R0, SR_CLOCKLO", "CS2R R0, SR_LANEID"),
    ("ISETP.GE.AND P0, PT, R1, R2, PT", "ISETP.GE.S64.EX.AND P0, PT, R2, R4, PT, P1"),
)  # fmt: skip


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


@pytest.mark.parametrize(("lifted", "refused"), PAIRS)
def test_what_has_no_known_meaning_is_refused_by_its_text(lifted, refused):
    known = [each for each in ARCHITECTURES if complaint(lifted, each) is None]
    assert known
    for architecture in known:
        said = complaint(refused, architecture)
        assert said is not None
        assert said.startswith(f"`{refused}` ")


if __name__ == "__main__":
    FILE.write_text("".join("\t".join(row(text)) + "\n" for text in VALID), encoding="utf-8")
