"""A module of PTX with the code of code.py in its places; the text is as it was beside."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from simtmm.cuda.instrumentation import code
from simtmm.cuda.instrumentation.addresses import address, condition, why_not, written
from simtmm.cuda.instrumentation.layout import RECORDER
from simtmm.cuda.ptx import Function, Instruction, Module, parse_module
from simtmm.cuda.ptx.flow.basic_blocks import BARRIER_RESULT, control_flow
from simtmm.cuda.ptx.flow.steps import Step, steps
from simtmm.cuda.ptx.passing import prototype_of, with_variables
from simtmm.cuda.ptx.syntax import Operand, Symbol
from simtmm.errors import PtxError

LEAST_VERSION = (6, 2)  # of PTX: activemask
_BOUNDS = ("maxntid", "reqntid", "maxnreg")
_MOST_THREADS = 1024  # of a block, which the kernel must have registers for
_ROUNDED = ("add", "sub", "mul")
_ROUNDINGS = ("rn", "rz", "rm", "rp", "rna", "rs")


@dataclass(frozen=True)
class AddressedSymbol:
    """A variable whose address a kernel writes down, which no host can ask for.

    space: "shared", "local" or "const". function: whose own it is, "" for one of the module.
    """

    name: str
    space: str
    function: str = ""


@dataclass(frozen=True)
class InstrumentedModule:
    """PTX that records.

    ptx: its text. first: the number of a function's first site, by the function's name; its other sites follow, in the
    order of `Program.sites`. sites: how many there are. symbols: variables, by their numbers. refused: why a site is
    not recorded, with its instruction.
    """

    ptx: str
    first: Mapping[str, int]
    sites: int
    symbols: tuple[AddressedSymbol, ...]
    refused: Mapping[int, tuple[Instruction, str]]


def instrumented(ptx: str) -> InstrumentedModule:
    """A module that records.

    ptx: the module's text.

    Raises PtxError for what can't be parsed, and for PTX that is too old.
    """
    return _Instrumentation(ptx).done()


@dataclass
class _Instrumentation:
    """A module on its way. inserted: texts, by where they stand in the old one."""

    ptx: str
    inserted: list[tuple[int, str]] = field(default_factory=list)
    symbols: dict[AddressedSymbol, int] = field(default_factory=dict)
    refused: dict[int, tuple[Instruction, str]] = field(default_factory=dict)
    sites: int = 0
    labels: int = 0

    def done(self) -> InstrumentedModule:
        module = parse_module(self.ptx)
        if module.version < LEAST_VERSION:
            least, given = (".".join(map(str, version)) for version in (LEAST_VERSION, module.version))
            raise PtxError(f".version {given}: recording on a GPU needs PTX {least} or later")
        first: dict[str, int] = {}
        placed: dict[int, int] = {}  # first sites by where functions stand: an alias stands where another does
        for name in module.functions:
            function = module.functions[name]
            if function.body is None:
                continue
            if function.opening in placed:
                first[name] = placed[function.opening]
                continue
            first[name] = placed[function.opening] = self.sites
            self._function(module, with_variables(function, partial(prototype_of, module)))
        self.inserted.append((_behind_head(self.ptx), f"{code.DECLARATION}\n"))
        return InstrumentedModule(_with(self.ptx, self.inserted), first, self.sites, tuple(self.symbols), self.refused)

    def _function(self, module: Module, function: Function) -> None:
        assert function.body is not None
        if not function.body:
            return
        if function.entry and not any(bound in function.bounds for bound in _BOUNDS):
            self.inserted.append((function.opening, f".maxntid {_MOST_THREADS}\n"))
        # Labels are jumped to: a head that stands behind one would be passed again.
        self.inserted.append((function.body[0].start, code.head(self._symbols_of(module, function), self._label())))
        has_constants = any(
            isinstance(item, Instruction) and item.opcode == "cvta" and item.has("const") for item in function.body
        )
        for block in steps(control_flow(function)):
            pending = ""
            for step in block:
                if step.is_recorded:
                    at, text = self._site(function, step, has_constants)
                    if at < 0:  # a wait by itself, of the step behind it
                        pending += text
                    else:
                        self.inserted.append((at, pending + text))
                        pending = ""
                elif pending:
                    self.inserted.append((_real(step)[0].start, pending))
                    pending = ""
        for item in function.body:
            if isinstance(item, Instruction) and _is_rounded_as_one_likes(item):
                self.inserted.append((_behind_opcode(self.ptx, item), ".rn"))

    def _site(self, function: Function, step: Step, has_constants: bool) -> tuple[int, str]:
        """Where the code of a site stands, -1 for in front of the next step, and the code."""
        number = self.sites
        self.sites += 1
        access = step.access
        if access is None:
            real = _real(step)
            text = code.entry(number, self._label(), None)
            if not real:
                return -1, text
            return (real[0].end if real[0].opcode == BARRIER_RESULT else real[0].start), text
        why = why_not(access)
        if why:
            self.refused[number] = access, why
            return access.start, ""
        lines = address(access, function.registers, has_constants)
        return access.start, code.entry(number, self._label(), lines, condition(access, function.registers))

    def _symbols_of(self, module: Module, function: Function) -> list[tuple[int, str]]:
        """Numbers and names of the symbols whose addresses are written down at the head of a function."""
        own = [each for each in function.variables if each.space in ("shared", "local")]
        mentioned = _symbols(function)
        found = [
            AddressedSymbol(each.name, each.space, function.name)
            for each in own
            if written(each.name) == each.name and (each.space == "shared" or function.entry)
        ]
        found += [
            AddressedSymbol(name, variable.space)
            for name, variable in module.variables.items()
            if variable.space in ("shared", "const") and name in mentioned
        ]
        return [(self._number(symbol), symbol.name) for symbol in found]

    def _number(self, symbol: AddressedSymbol) -> int:
        return self.symbols.setdefault(symbol, len(self.symbols))

    def _label(self) -> str:
        self.labels += 1
        return f"${RECORDER}_{self.labels}"


def _real(step: Step) -> list[Instruction]:
    """The instructions of a step that stand in the text."""
    return [instruction for instruction in step.instructions if instruction.opcode]


def _symbols(function: Function) -> set[str]:
    """The names of variables and functions that a function's instructions mention."""
    found: set[str] = set()
    pending: list[Operand] = [
        operand for item in function.body or () if isinstance(item, Instruction) for operand in item.operands
    ]
    while pending:
        operand = pending.pop()
        if isinstance(operand, Symbol):
            found.add(operand.name)
        base = getattr(operand, "base", None)
        pending += [*getattr(operand, "parts", ()), *([base] if base is not None else [])]
    return found


def _is_rounded_as_one_likes(instruction: Instruction) -> bool:
    """Whether the assembler may join it with another to one that rounds once: the branches taken may be others then."""
    real = any(modifier[:2] in ("f1", "f3", "f6", "bf") for modifier in instruction.modifiers)
    return instruction.opcode in _ROUNDED and real and not instruction.has(*_ROUNDINGS)


def _behind_opcode(ptx: str, instruction: Instruction) -> int:
    found = re.compile(rf"(?:@\s*!?\s*[\w%$]+\s+)?{instruction.opcode}").match(ptx, instruction.start)
    assert found is not None
    return found.end()


def _behind_head(ptx: str) -> int:
    """Where the module's own declarations may begin."""
    found = re.search(r"^[ \t]*\.address_size[ \t]+\d+[^\n]*\n", ptx, re.MULTILINE)
    found = found or re.search(r"^[ \t]*\.target[ \t][^\n]*\n", ptx, re.MULTILINE)
    if found is None:
        raise PtxError("PTX without .target")
    return found.end()


def _with(text: str, inserted: list[tuple[int, str]]) -> str:
    """The text with others inserted; of those at one place the first comes first."""
    parts, end = [], 0
    for at, more in sorted(inserted, key=lambda each: each[0]):
        parts += [text[end:at], more]
        end = at
    return "".join([*parts, text[end:]])
