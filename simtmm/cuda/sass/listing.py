"""nvdisasm's text as instructions: the operation, its line of PTX, and its scheduling."""

import math
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from simtmm.cuda.ptx.syntax import Instruction, Location
from simtmm.cuda.sass.operands import operand, split
from simtmm.cuda.sass.syntax import (
    SCOREBOARDS,
    Control,
    Listing,
    MachineInstruction,
    MachineLabel,
    Number,
    Operand,
    Reg,
    Target,
)
from simtmm.errors import SassError

_LINE = re.compile(r'//## File "[^"]*", line (\d+)')
_LABEL = re.compile(r"^([.$\w]+):\s*$")
_CODE = re.compile(r"^\s*/\*([0-9a-f]+)\*/\s+(.*?)\s*;?\s*/\* 0x([0-9a-f]{16}) \*/\s*$")
_SECOND = re.compile(r"^\s*/\* 0x([0-9a-f]{16}) \*/\s*$")
_TARGETS = re.compile(r'\(\*"BRANCH_TARGETS ([^"]*)"\*\)')
_SPILL = '(*"SpillRefill"*)'  # nvdisasm's remark on a register that is spilled, or comes back
_GUARD = re.compile(r"^@(!?)(U?P\d|U?PT)\s+")
_TOO_LONG = re.compile(r"[0-9]{1000}")  # no number of machine code has as many digits, and Python reads 4,300 at most
_OF_ASSEMBLER = "$__internal_"  # with which names of functions begin that the assembler brings along
_TEXTURES = {"TEX": ("tex",), "TLD": ("tex", "tld4"), "SULD": ("suld",), "SUST": ("sust",)}  # with what PTX has
_NONE = 7  # in the place of a scoreboard


def parse_listing(text: str, kernel: str) -> Listing:
    """The machine code of a kernel, of what `nvdisasm -c -gp -hex` prints of it (`Disassembly.code_of`).

    Raises SassError.
    """
    items: list[MachineInstruction | MachineLabel] = []
    line, first = 0, None
    if found := _TOO_LONG.search(text):
        raise SassError(f"the disassembler's line {text.count(chr(10), 0, found.start()) + 1}: a number is too long")
    for row in text.splitlines():
        if found := _LINE.search(row):
            line = int(found[1])
        elif label := _LABEL.match(row):
            items.append(MachineLabel(label[1], -1))
        elif code := _CODE.match(row):
            first = code
        elif (second := _SECOND.match(row)) and first is not None:
            items.append(_instruction(int(first[1], 16), first[2], int(first[3], 16), int(second[1], 16), line))
            first = None
    if not any(isinstance(item, MachineInstruction) for item in items):
        raise SassError(f"the disassembler shows no code of {kernel}")
    return Listing(tuple(_placed(items)))


def with_lines_of_calls(listing: Listing, locations: Mapping[int, Location | None]) -> Listing:
    """Functions of the assembler's own, as for divisions of 64 bits, with the line that calls them, the most frequent
    one: they come behind the kernel, and nvdisasm has no line for them but the kernel's last one.

    locations: where in the source each line of PTX comes from, in their order; lines of PTX that come from one count
        together. One that comes from nowhere, as what compilers put before a division, belongs to the one before.
    """
    known = sorted(number for number, place in locations.items() if place is not None)
    calls: defaultdict[str, defaultdict[tuple[int, int], list[int]]] = defaultdict(lambda: defaultdict(list))
    for each in listing.instructions:
        target = each.operands[0] if each.opcode == "CALL" and each.operands else None
        if isinstance(target, Target) and target.name.startswith(_OF_ASSEMBLER):
            before = bisect_right(known, each.ptx_line)
            line = known[before - 1] if before else each.ptx_line
            place = locations.get(line)
            calls[target.name][(-1, line) if place is None else (place.file, place.line)].append(line)
    found: list[MachineInstruction | MachineLabel] = []
    own: int | None = None
    for item in listing.items:
        if isinstance(item, MachineLabel):
            if not item.name.startswith("."):
                own = max(calls[item.name].values(), key=len)[0] if item.name in calls else None
            found.append(item)
        else:
            found.append(item if own is None else replace(item, ptx_line=own))
    return Listing(tuple(found))


def with_lines_of_textures(listing: Listing, sources: Sequence[Instruction]) -> Listing:
    """Accesses of textures and surfaces with their own lines of PTX: for many of them nvdisasm has that of what stands
    before.

    sources: the PTX. Accesses with one line count as being in its order.
    """
    lines = {kind: sorted(each.line for each in sources if each.opcode in _TEXTURES[kind]) for kind in _TEXTURES}
    before: defaultdict[int, int] = defaultdict(int)

    def placed(item: MachineInstruction) -> MachineInstruction:
        kind = next((kind for kind in _TEXTURES if item.opcode.startswith(kind)), None)
        if kind is None or item.ptx_line in lines[kind]:
            return item
        behind = lines[kind][bisect_right(lines[kind], item.ptx_line) :]
        number = min(before[item.ptx_line], len(behind) - 1)
        before[item.ptx_line] += 1
        return replace(item, ptx_line=behind[number]) if behind else item

    return Listing(tuple(placed(each) if isinstance(each, MachineInstruction) else each for each in listing.items))


def control(high: int) -> Control:
    """What schedules an instruction, from the upper half of its code."""
    bits = high >> 41
    written, read, waits = bits >> 5 & 7, bits >> 8 & 7, bits >> 11
    return Control(
        bits & 15,
        not bits >> 4 & 1,
        None if written == _NONE else written,
        None if read == _NONE else read,
        tuple(number for number in range(SCOREBOARDS) if waits >> number & 1),
    )


def _instruction(address: int, text: str, low: int, high: int, line: int) -> MachineInstruction:
    targets: tuple[str, ...] = ()
    if found := _TARGETS.search(text):
        targets = tuple(found[1].split(","))
        text = text.replace(found[0], "").strip()
    text = " ".join(text.replace(_SPILL, "").split())
    rest, guard = text, None
    if match := _GUARD.match(text):
        guard, rest = Reg(match[2], inverted=match[1] == "!"), text[match.end() :]
    name, _, operands = rest.partition(" ")
    opcode, *modifiers = name.split(".")
    try:
        parsed = tuple(_exact(operand(part), low) for part in split(operands))
    except SassError as error:
        raise SassError(f"`{text}`: {error}") from None
    return MachineInstruction(address, guard, opcode, tuple(modifiers), parsed, control(high), line, text, targets)


def _exact(found: Operand, low: int) -> Operand:
    """An operand; a NaN with its bits, which the text doesn't tell. low: the lower half of the instruction's code."""
    if isinstance(found, Number) and isinstance(found.value, float) and math.isnan(found.value):
        return Number(found.value, low >> 32)
    return found


def _placed(items: list[MachineInstruction | MachineLabel]) -> Iterator[MachineInstruction | MachineLabel]:
    """Labels with the address of what stands behind them."""
    behind = -1
    found: list[MachineInstruction | MachineLabel] = []
    for item in reversed(items):
        if isinstance(item, MachineInstruction):
            behind = item.address
            found.append(item)
        else:
            found.append(MachineLabel(item.name, behind))
    return reversed(found)
