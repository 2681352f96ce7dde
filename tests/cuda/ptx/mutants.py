"""Instructions that are changed in one place, and what ptxas says of each: the judge of simtmm/cuda/ptx/isa.

`python -m tests.cuda.ptx.mutants --count N --seed S` draws so many from the instructions of the cases, and prints those
on which ptxas and the table differ.
"""

import argparse
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from simtmm.cuda.compilers.wheels import find_tool
from simtmm.cuda.execution.translation.program import Program
from simtmm.cuda.ptx import parse_module
from simtmm.cuda.ptx.forms import complaint
from simtmm.cuda.ptx.isa import FORMS
from simtmm.cuda.ptx.syntax import (
    Address,
    Immediate,
    Instruction,
    Negated,
    Operand,
    Pair,
    Part,
    Register,
    Sink,
    Symbol,
    Vector,
)
from simtmm.cuda.ptx.types import is_type
from simtmm.errors import PtxError
from tests.cuda.cases import every_case

TARGETS = ("sm_90a", "sm_120a", "sm_100a")  # the first that takes an instruction judges its mutants
REGISTERS = (
    "b16", "b32", "b64", "b128", "u16", "u32", "u64", "s16", "s32", "s64", "f16", "f32", "f64", "pred",
)  # fmt: skip
TYPES = (
    "b8", "b16", "b32", "b64", "b128", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f16", "bf16", "f16x2",
    "bf16x2", "f32", "f64", "pred", "u16x2", "s16x2", "f32x2", "tf32", "e4m3x2", "e5m2x2",
)  # fmt: skip
MODIFIERS = (
    "rn", "rz", "rm", "rp", "rni", "rzi", "ftz", "sat", "cc", "hi", "lo", "wide", "approx", "full", "relu", "NaN",
    "xorsign", "abs", "eq", "lt", "ltu", "lo", "num", "and", "or", "xor", "clamp", "wrap", "l", "r", "sync", "all",
    "any", "global", "shared", "local", "const", "relaxed", "acquire", "release", "gpu", "cta", "volatile", "nc", "ca",
    "cg", "v2", "v4", "add", "min", "max", "exch", "cas", "noftz", "to", "shiftamt", "popc", "aligned", "satfinite",
)  # fmt: skip
CHANGES = ("type", "type", "drop", "add", "replace", "register", "register", "number", "count", "opcode")
TOGETHER = 500  # instructions of a module: ptxas stops at some errors
# Complaints of ptxas that are not about modifiers, types or operands
FAILED = "an internal error"
OTHERWISE = re.compile(
    r"an internal error|Number of threads|out of range|requires \.target|requires PTX|not supported on|deprecated"
    r"|is not supported|unexpected value|Rounding modifier required|must be aligned|alignment|misaligned"
    r"|sync modifier required for instruction '(vote|shfl)|Unknown symbol|state space incompatible|not within",
    re.IGNORECASE,
)
# Where ptxas takes more than the PTX ISA has
LAX = (
    r"\.(\w+)\..*?\b\1\b|\.(\w+)\.\2\b",  # a modifier twice
    r"^testp\.f",  # without what it tests
    r"^(movmatrix|ldmatrix|stmatrix|mma|mov\.b64) .*pred|^(movmatrix|ldmatrix|stmatrix|mma).*%pred",  # a predicate
    r"^(mma|ld|st|atom)\..*\{",  # registers of a vector behind the first, of other types
    r"^tanh\.approx\.bf16x2 %b16",
    r"^bar\.all|^rcp\..*ftz\.f64",
    r"^(shfl|redux|atom|cvt\.pack)\b",  # numbers and policies of types that are ignored
    r"%b128",  # registers of 128 bits where one may be wider
)
_ERROR = re.compile(r"ptxas .*?line (\d+); (?:error|fatal)\s*: (.*)")


def name_of(kind: str, number: int) -> str:
    """A register of a type."""
    return f"%{kind}_{number}"


HEAD = "\n".join(
    (
        ".version 8.7",
        ".target TARGET",
        ".address_size 64",
        ".visible .entry k() {",
        *(f" .reg .{kind} {', '.join(name_of(kind, number) for number in range(12))};" for kind in REGISTERS),
        "",
    )
)


def judged(texts: Sequence[str], target: str) -> list[str | None]:
    """What ptxas says of each instruction, None for nothing."""
    found: list[str | None] = [None] * len(texts)
    groups = [list(range(len(texts)))[at : at + TOGETHER] for at in range(0, len(texts), TOGETHER)]
    while groups:
        numbers = groups.pop()
        said = _said([texts[number] for number in numbers], target)
        if said is None:  # an error of ptxas itself: whose?
            if len(numbers) == 1:
                found[numbers[0]] = FAILED
            else:
                groups += [numbers[: len(numbers) // 2], numbers[len(numbers) // 2 :]]
            continue
        for at, what in said.items():
            found[numbers[at]] = what
        if said:  # it may have stopped at one of them
            groups.append([number for number in numbers if found[number] is None])
    return found


def _said(texts: Sequence[str], target: str) -> dict[int, str] | None:
    """What ptxas says of one module with all, by line; None where it fails without a line."""
    assembler = find_tool("ptxas")
    assert assembler
    head = HEAD.replace("TARGET", target)
    first = head.count("\n") + 1
    with TemporaryDirectory() as folder:
        path = Path(folder, "k.ptx")
        path.write_text(head + "\n".join(texts) + "\nret;\n}\n", encoding="utf-8")
        ran = subprocess.run(
            [str(assembler), "-O0", f"-arch={target}", "-o", str(Path(folder, "k.cubin")), str(path)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    said: dict[int, str] = {}
    for line, what in _ERROR.findall(ran.stdout + ran.stderr):
        at = int(line) - first
        if 0 <= at < len(texts):
            said.setdefault(at, what)
    return None if ran.returncode and not said else said


@dataclass(frozen=True)
class Plain:
    """An instruction whose operands are registers of `REGISTERS`, as text."""

    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[str, ...]

    def __str__(self) -> str:
        return f"{'.'.join((self.opcode, *self.modifiers))} {', '.join(self.operands)};"


def plain_instructions() -> list[Plain]:
    """Each form in the cases once, but for those of labels and symbols."""
    found: dict[tuple[object, ...], Plain] = {}
    for case in every_case().values():
        function = parse_module(case.text).functions["k"]
        for item in function.body or ():
            if isinstance(item, Instruction) and item.opcode and not item.has("param"):
                written = [_written(each, function.registers, place) for place, each in enumerate(item.operands)]
                if None not in written:
                    plain = Plain(item.opcode, item.modifiers, tuple(filter(None, written)))
                    found.setdefault((item.opcode, item.modifiers, len(written)), plain)
    return list(found.values())


def _written(operand: Operand, registers: dict[str, str], place: int) -> str | None:
    """An operand with registers of `REGISTERS`; None for what can't be had so."""

    def named(register: Register, number: int) -> str | None:
        kind = registers.get(register.name)
        return name_of(kind, number) if kind in REGISTERS else None

    match operand:
        case Register():
            return named(operand, place)
        case Negated(register):
            name = named(register, place)
            return name and f"!{name}"
        case Vector(parts):
            names = [named(part, 4 + at) if isinstance(part, Register) else None for at, part in enumerate(parts)]
            return None if None in names else f"{{{', '.join(filter(None, names))}}}"
        case Pair(Register() as first, Register() as second):
            return f"{named(first, place)}|{named(second, place + 1)}"
        case Address(Register(), offset, ()):
            return f"[{name_of('b64', place)}+{offset}]"
        case Immediate(value, 0):
            return str(value)
        case Sink():
            return "_"
        case Part() | Symbol() | _:
            return None


def mutants(seed: int) -> Iterator[tuple[Plain, Plain]]:
    """Instructions and what is made of them, without end."""
    chance = random.Random(seed)
    plain = plain_instructions()
    by_opcode: dict[str, list[Plain]] = {}
    for each in plain:
        by_opcode.setdefault(each.opcode, []).append(each)
    opcodes = sorted(by_opcode)
    while True:
        one = chance.choice(by_opcode[chance.choice(opcodes)])
        other = _changed(one, chance, opcodes)
        if other != one:
            yield one, other


def _changed(one: Plain, chance: random.Random, opcodes: Sequence[str]) -> Plain:
    modifiers, operands = list(one.modifiers), list(one.operands)
    match chance.choice(CHANGES):
        case "type":
            places = [at for at, each in enumerate(modifiers) if is_type(each)]
            if places:
                modifiers[chance.choice(places)] = chance.choice(TYPES)
        case "drop" if modifiers:
            del modifiers[chance.randrange(len(modifiers))]
        case "add":
            modifiers.insert(chance.randint(0, len(modifiers)), chance.choice(MODIFIERS))
        case "replace" if modifiers:
            modifiers[chance.randrange(len(modifiers))] = chance.choice(MODIFIERS)
        case "register" if operands:
            at = chance.randrange(len(operands))
            names = re.findall(r"%\w+", operands[at])
            if names:
                other = name_of(chance.choice(REGISTERS), chance.randrange(12))
                operands[at] = operands[at].replace(chance.choice(names), other, 1)
        case "number" if operands:
            operands[chance.randrange(len(operands))] = chance.choice(("1", "-1", "0f3F800000", "0d3FF0000000000000"))
        case "count" if operands:
            at = chance.randrange(len(operands))
            if chance.random() < 0.5:
                del operands[at]
            else:
                operands.insert(at, operands[at])
        case "opcode":
            return Plain(chance.choice(opcodes), one.modifiers, one.operands)
    return Plain(one.opcode, tuple(modifiers), tuple(operands))


def own_complaint(text: str, translated: bool) -> str | None:
    """What the table says of an instruction. translated: or else its translation, which knows more of some."""
    module = parse_module(HEAD.replace("TARGET", "sm_90") + text + "\nret;\n}\n")
    try:
        function = module.functions["k"]
        instruction = next(item for item in function.body or () if isinstance(item, Instruction))
        if instruction.opcode not in FORMS:
            return "is not known"
        found = complaint(instruction, function.registers)
        if found is None and translated:
            Program(module, "k").assembly()
        return found
    except PtxError as error:
        return str(error)


@dataclass(frozen=True)
class Difference:
    """A mutant on which the two differ. ptxas, table: what each says, None for nothing."""

    text: str
    origin: str
    ptxas: str | None
    table: str | None


def differences(count: int, seed: int) -> tuple[list[Difference], Counter[str]]:
    """Of so many mutants those on which ptxas and the table differ; and how many each refuses."""
    drawn = mutants(seed)
    pairs = [next(drawn) for _ in range(count)]
    target_of = _targets({str(origin) for origin, _ in pairs})
    found: list[Difference] = []
    counts: Counter[str] = Counter()
    for target in TARGETS:
        own = [(str(origin), str(mutant)) for origin, mutant in pairs if target_of.get(str(origin)) == target]
        for (origin, text), said in zip(own, judged([text for _, text in own], target), strict=True):
            table = own_complaint(text, translated=said is not None)
            if said and OTHERWISE.search(said):
                counts["otherwise"] += 1
                continue
            counts[f"{'refused' if said else 'taken'} by ptxas, {'refused' if table else 'taken'} here"] += 1
            if bool(said) != bool(table):
                found.append(Difference(text, origin, said, table))
    return found, counts


def _targets(texts: set[str]) -> dict[str, str]:
    """For each instruction the first target that takes it."""
    found: dict[str, str] = {}
    for target in TARGETS:
        left = sorted(texts - found.keys())
        found |= {text: target for text, said in zip(left, judged(left, target), strict=True) if said is None}
    return found


def main() -> int:
    """Print what differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    found, counts = differences(given.count, given.seed)
    counts["taken by ptxas alone, beyond the ISA"] = sum(
        bool(each.table) and any(re.search(lax, each.text) for lax in LAX) for each in found
    )
    for each in found:
        print(f"{each.text}    ptxas: {each.ptxas}    here: {each.table}")
    print(dict(counts), f"{len(FORMS)} opcodes")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
