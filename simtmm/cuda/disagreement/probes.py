"""PTX that writes down what its instructions give, so that two runs of it can be set side by side.

The module's text gets a variable and, behind each instruction, lines that log the registers it has written; so the
assembler must keep each value, and machine code logs what PTX logs. One thread does it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from simtmm.cuda.ptx.flow.registers import guards, written
from simtmm.cuda.ptx.syntax import Address, Function, Instruction, Register, Symbol
from simtmm.cuda.ptx.types import bits_of

PROBE = "simtmm_probe"
CAPACITY = 1 << 15  # entries of the log: number of the probe, value
ENTRY = 16
HEAD = 64  # bytes in front of them: how many there are, or who wrote
_SPECIALS = ("ctaid.x", "ctaid.y", "ctaid.z", "tid.x", "tid.y", "tid.z")
_DECLARATION = f"\n.visible .global .align 16 .b8 {PROBE}[{HEAD + CAPACITY * ENTRY}];\n"
_REGISTERS = (
    "\n.reg .pred %simtmm_me, %simtmm_q; .reg .b16 %simtmm_h; .reg .b32 %simtmm_x; "
    ".reg .b64 %simtmm_a, %simtmm_k, %simtmm_v;\n"
)


@dataclass(frozen=True)
class Probe:
    """What a number in the log stands for: a register that an instruction of a function writes."""

    function: str
    instruction: Instruction
    register: str


def with_log(text: str, functions: Iterable[Function], thread: tuple[int, ...]) -> tuple[str, list[Probe]]:
    """A module's text in which one thread logs each register that it writes, and what its numbers stand for.

    thread: its block and itself in x, y and z.
    """
    probes: list[Probe] = []
    inserted: list[tuple[int, str]] = []
    for function in functions:
        inserted.append((function.opening + 1, _REGISTERS + _is_thread(thread)))
        for item in function.body or ():
            if isinstance(item, Instruction) and item.end >= 0 and item.opcode not in ("call", "bra", "brx"):
                lines = []
                for name in dict.fromkeys(written(item)):
                    line = _logged(item, name, function.registers.get(name, ""), len(probes))
                    if line:
                        probes.append(Probe(function.name, item, name))
                        lines.append(line)
                inserted.append((item.end, "".join(lines)))
    return _put(text, inserted), probes


def with_writer(text: str, functions: Iterable[Function], address: int, size: int) -> tuple[str, list[Probe]]:
    """A module's text in which each thread that writes to a place of global memory says so, the last one last."""
    probes: list[Probe] = []
    inserted: list[tuple[int, str]] = []
    for function in functions:
        inserted.append((function.opening + 1, _REGISTERS))
        for item in function.body or ():
            if isinstance(item, Instruction) and item.start >= 0 and item.opcode in ("st", "red", "atom"):
                place = next((each for each in item.operands if isinstance(each, Address)), None)
                if place is not None and not item.has("shared", "local", "param", "shared::cta"):
                    inserted.append((item.start, _claim(item, place, address, size, len(probes))))
                    probes.append(Probe(function.name, item, ""))
    return _put(text, inserted), probes


def _put(text: str, inserted: list[tuple[int, str]]) -> str:
    """The text with pieces put in at their places, the variable declared in front of the first function."""
    parts, at = [], 0
    for place, piece in sorted(inserted, key=lambda each: each[0]):
        parts += [text[at:place], piece]
        at = place
    text = "".join((*parts, text[at:]))
    head = text.index("\n", text.index(".address_size"))
    return text[:head] + _DECLARATION + text[head:]


def _is_thread(thread: tuple[int, ...]) -> str:
    lines = []
    for number, (special, value) in enumerate(zip(_SPECIALS, thread, strict=True)):
        lines.append(f"mov.u32 %simtmm_x, %{special};\n")
        if number == 0:
            lines.append(f"setp.eq.u32 %simtmm_me, %simtmm_x, {value};\n")
        else:
            lines.append(f"setp.eq.and.u32 %simtmm_me, %simtmm_x, {value}, %simtmm_me;\n")
    return "".join(lines)


def _condition(instruction: Instruction) -> Iterator[str]:
    """%simtmm_q, joined with the instruction's guard."""
    guard = instruction.guard
    if isinstance(guard, Register):
        yield f"and.pred %simtmm_q, %simtmm_q, {guard.name};\n"
    elif guard is not None:
        yield f"not.pred %simtmm_q, %simtmm_q;\nor.pred %simtmm_q, %simtmm_q, {guard.register.name};\n"
        yield "not.pred %simtmm_q, %simtmm_q;\n"


def _logged(instruction: Instruction, name: str, kind: str, number: int) -> str:
    """Lines that log a register; "" for one that is not logged: of 128 bits, or renamed in an inner scope."""
    if not kind or name not in instruction.text or (kind != "pred" and bits_of(kind) not in (16, 32, 64)):
        return ""
    if name in guards(instruction):
        return ""
    if kind == "pred":
        value = f"selp.u64 %simtmm_v, 1, 0, {name};\n"
    elif bits_of(kind) == 64:
        value = f"mov.b64 %simtmm_v, {name};\n"
    else:
        half, width = ("%simtmm_h", 16) if bits_of(kind) == 16 else ("%simtmm_x", 32)
        value = f"mov.b{width} {half}, {name};\ncvt.u64.u{width} %simtmm_v, {half};\n"
    return "".join(
        (
            f"\nld.global.u64 %simtmm_k, [{PROBE}];\n",
            f"setp.lt.and.u64 %simtmm_q, %simtmm_k, {CAPACITY}, %simtmm_me;\n",
            *_condition(instruction),
            value,
            f"mov.u64 %simtmm_a, {PROBE};\n",
            f"mad.lo.u64 %simtmm_a, %simtmm_k, {ENTRY}, %simtmm_a;\n",
            f"@%simtmm_q st.global.u64 [%simtmm_a+{HEAD + 8}], %simtmm_v;\n",
            f"mov.u64 %simtmm_v, {number};\n",
            f"@%simtmm_q st.global.u64 [%simtmm_a+{HEAD}], %simtmm_v;\n",
            "add.u64 %simtmm_k, %simtmm_k, 1;\n",
            f"@%simtmm_q st.global.u64 [{PROBE}], %simtmm_k;\n",
        )
    )


def _claim(instruction: Instruction, place: Address, address: int, size: int, number: int) -> str:
    """Lines in front of a store that say who makes it, where it reaches the place."""
    kinds = [bits_of(m) // 8 for m in instruction.modifiers if m[1:].isdecimal() and m[0] in "usbf"]
    count = next((int(m[1:]) for m in instruction.modifiers if m in ("v2", "v4", "v8")), 1)
    width = (kinds[-1] if kinds else 16) * count
    if isinstance(place.base, Register):
        base = f"add.s64 %simtmm_a, {place.base.name}, {place.offset};\n"
    elif isinstance(place.base, Symbol):
        base = f"mov.u64 %simtmm_a, {place.base.name};\nadd.s64 %simtmm_a, %simtmm_a, {place.offset};\n"
    else:
        base = f"mov.u64 %simtmm_a, {place.base.value + place.offset};\n"
    words = "".join(
        f"mov.u32 %simtmm_x, %{special};\n@%simtmm_q st.global.u32 [{PROBE}+{8 + 4 * at}], %simtmm_x;\n"
        for at, special in enumerate(_SPECIALS)
    )
    return "".join(
        (
            "\n",
            base,
            f"setp.lt.u64 %simtmm_q, %simtmm_a, {address + size};\n",
            f"add.s64 %simtmm_a, %simtmm_a, {width};\n",
            f"setp.gt.and.u64 %simtmm_q, %simtmm_a, {address}, %simtmm_q;\n",
            *_condition(instruction),
            words,
            f"mov.u32 %simtmm_x, {number + 1};\n@%simtmm_q st.global.u32 [{PROBE}], %simtmm_x;\n",
        )
    )
