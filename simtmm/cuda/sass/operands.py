"""Operands of machine instructions, from nvdisasm's text."""

import math
import re

from simtmm.cuda.sass.syntax import Boards, Constant, Descriptors, Memory, Number, Operand, Reg, Target, Word
from simtmm.errors import SassError

_REGISTER = re.compile(r"(U?R\d{1,3}|U?RZ|U?P\d|U?PT|B\d{1,2}|SRZ)((?:\.\w+)*)")
_CONSTANT = re.compile(r"c(?:\[(0x[0-9a-f]+)\])\s*\[(.*)\]((?:\.\w+)*)")
_DESCRIPTORS = re.compile(r"gdesc\[(UR\d+|URZ)\]((?:\.\w+)*)")
_BOARDS = re.compile(r"\{[0-5](?:,[0-5]){0,5}\}")
_POLICY = re.compile(r"desc\[(?:UR\d+|URZ)\]")  # of a cache, by itself
_WHOLE = re.compile(r"[+-]?(?:0x[0-9a-f]{1,16}|\d{1,20})")  # of 64 bits at most
_REAL = re.compile(r"[+-]?\d*\.?\d+(?:e[+-]?\d+)?")
_WITHOUT_COMMA = re.compile(r"^(U?R\d+) +(`\(|[-+]?0x)")
_SPECIAL = {"INF": math.inf, "QNAN": math.nan, "SNAN": math.nan}


def split(text: str) -> list[str]:
    """Operands that commas part, those in brackets together; a place to jump to may stand behind a register alone."""
    text = _WITHOUT_COMMA.sub(r"\1, \2", text)
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        if letter in "[(`{":
            depth += letter != "`"
        elif letter in "])}":
            depth -= 1
        elif letter == "," and depth == 0:
            parts.append(text[start:place].strip())
            start = place + 1
    last = text[start:].strip()
    return [*parts, last] if last else parts


def operand(text: str) -> Operand:
    """An operand. Raises SassError for one that is not known."""
    if text.startswith("`("):
        return Target(text[2:-1])
    if found := _DESCRIPTORS.fullmatch(text):
        return Descriptors(found[1], tuple(part for part in found[2].split(".") if part))
    if _BOARDS.fullmatch(text):
        return Boards(tuple(map(int, text[1:-1].split(","))))
    if _POLICY.fullmatch(text):
        return Word("desc")
    if text.startswith(("[", "desc[")):
        return _memory(text)
    if _WHOLE.fullmatch(text):
        return Number(_whole(text))
    if _REAL.fullmatch(text):
        return Number(float(text))
    if text.lstrip("+-") in _SPECIAL:
        return Number(math.copysign(_SPECIAL[text.lstrip("+-")], -1 if text[0] == "-" else 1))
    inner, negative, absolute, inverted = _signs(text)
    if found := _CONSTANT.fullmatch(inner):
        register, offset = _inside(found[2])
        return Constant(int(found[1], 16), offset, register, negative, absolute, inverted, _part(found[3]))
    if found := _REGISTER.fullmatch(inner):
        is_kept = "reuse" in found[2].split(".")
        return Reg(found[1], negative, absolute, inverted, _part(found[2]), is_kept)
    if re.fullmatch(r"[A-Za-z_0-9.$]+", text):
        return Word(text)
    raise SassError(f"operand {text!r} is not supported")


def _signs(text: str) -> tuple[str, bool, bool, bool]:
    negative = inverted = absolute = False
    while text[:1] in "-~!" and text[:1]:
        negative, inverted = negative != (text[0] == "-"), inverted != (text[0] in "~!")
        text = text[1:].strip()
    if text.startswith("|"):
        inner, _, rest = text[1:].rpartition("|")
        text, absolute = inner + rest, True
    return text, negative, absolute, inverted


def _part(text: str) -> str:
    """What stands behind dots, but for what only steers the register file."""
    return ".".join(part for part in text.split(".") if part and part != "reuse")


def _whole(text: str) -> int:
    return int(text, 16 if "x" in text else 10)


def _inside(text: str) -> tuple[Reg | None, int]:
    """The register and the number of an index."""
    register, offset = None, 0
    for sign, part in re.findall(r"([+-]*)([^+-]+)", text.replace(" ", "")):
        if found := _REGISTER.fullmatch(part):
            register = Reg(found[1], part=_part(found[2])) if found[1] not in ("RZ", "URZ") else register
        elif _WHOLE.fullmatch(part):
            offset += _whole(part) * (-1 if "-" in sign else 1)
        else:
            raise SassError(f"operand [{text}] is not supported")
    return register, offset


def _memory(text: str) -> Memory:
    descriptor = None
    if found := re.fullmatch(r"desc\[(UR\d+|URZ)(?:\.\w+)*\](\[.*\])", text):
        descriptor, text = Reg(found[1]), found[2]
    if not text.startswith("[") or not text.endswith("]") or "[" in text[1:]:
        raise SassError(f"operand {text!r} is not supported")
    registers, offset = [], 0
    for sign, part in re.findall(r"([+-]*)([^+-]+)", text[1:-1].replace(" ", "")):
        if found := _REGISTER.fullmatch(part):
            registers.append(Reg(found[1], part=_part(found[2]), negative="-" in sign))
        elif _WHOLE.fullmatch(part):
            offset += _whole(part) * (-1 if "-" in sign else 1)
        else:
            raise SassError(f"operand {text!r} is not supported")
    return Memory(tuple(registers), offset, descriptor)
