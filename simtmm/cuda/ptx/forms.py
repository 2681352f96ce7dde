"""Whether an instruction is of a form that its opcode has, by the table in isa; and if not, why not."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from simtmm.cuda.ptx.isa import ROWS, SETS
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
from simtmm.cuda.ptx.types import bits_of, is_type

_VALUES = (Register, Immediate, Symbol, Negated, Sink)
_KINDS: dict[str, tuple[type, ...]] = {
    "d": (Register, Sink),
    "p": (Register, Sink, Pair),
    "D": (Register, Sink, Vector),
    "V": (Vector,),
    "P": (Vector,),
    "T": (Vector, Pair),
    "s": _VALUES,
    "r": (Register, Negated),
    "S": (*_VALUES, Vector),
    "v": (*_VALUES, Part),
    "w": (Register, Part),
    "n": (Immediate,),
    "m": (Address,),
    "t": (Symbol, Register),
}
_OTHERS = "~"  # in the place of modifiers: looked at elsewhere
_WRITTEN = "dpDVTPw"  # letters of destinations, where they stand first
_VECTORS = ("v2", "v4", "v8")
_PACKED = ("f32", "f64", "s32")  # what a register of a matrix has one number of
_OF_THEMSELVES = {"m": "address", "n": "u64"}  # letters that are of a type whatever the instruction's
_TYPED = "dpDsrSP"  # letters whose registers are of the type of the instruction, if no other is said


@dataclass(frozen=True)
class OperandForm:
    """An operand of a form. letter: its kind. place: of the type among the instruction's, if `type` is "". wide:
    whether the register may have more bits.
    """

    letter: str
    place: int = 0
    type: str = ""
    wide: bool = False


@dataclass(frozen=True)
class Form:
    """Modifiers and operands of a form.

    types: the choices of each type, in order. needed, optional: sets of modifiers: one of each set is present, or may
        be.
        open:
    whether there may be others. operands: alternatives.
    """

    types: tuple[frozenset[str], ...]
    needed: tuple[frozenset[str], ...]
    optional: tuple[frozenset[str], ...]
    open: bool
    operands: tuple[tuple[OperandForm, ...], ...]

    def has(self, modifiers: Sequence[str]) -> bool:
        """Whether an instruction's modifiers are this form's."""
        types = [each for each in modifiers if is_type(each)]
        others = [each for each in modifiers if not is_type(each)]
        if self.open:
            return all(any(each in needed for each in others) for needed in self.needed)
        if len(types) != len(self.types) or len(set(others)) < len(others):
            return False
        sets = [*self.needed, *self.optional]
        counts = [sum(each in allowed for each in others) for allowed in sets]
        return (
            all(each in allowed for each, allowed in zip(types, self.types, strict=True))
            and sum(counts) == len(others)
            and all(count == 1 for count in counts[: len(self.needed)])
            and all(count <= 1 for count in counts)
        )


@cache
def forms_of(opcode: str) -> tuple[Form, ...]:
    """The forms of an opcode; none of one without a row."""
    return tuple(_form(text) for text in ROWS[opcode].forms.split(";")) if opcode in ROWS else ()


def split_form(text: str) -> tuple[list[str], list[list[str]]]:
    """A form as it stands in the table: its modifiers, and the operands of each alternative."""
    modifiers, _, operands = f" {text}".partition(" :")
    return modifiers.split(), [each.split() for each in operands.split("|")]


def _form(text: str) -> Form:
    modifiers, operands = split_form(text)
    types, needed, optional = list[frozenset[str]](), list[frozenset[str]](), list[frozenset[str]]()
    for item in modifiers:
        if item == _OTHERS:
            continue
        names = frozenset(_names(item.removesuffix("?")))
        if any(map(is_type, names)):
            types.append(names)
        else:
            (optional if item.endswith("?") else needed).append(names)
    alternatives = tuple(tuple(map(_operand, each)) for each in operands)
    return Form(tuple(types), tuple(needed), tuple(optional), _OTHERS in modifiers, alternatives)


def _names(item: str) -> Iterator[str]:
    for name in item.split("/"):
        if name.startswith("$"):
            yield from SETS[name[1:]].split("/")
        else:
            yield name


def _operand(text: str) -> OperandForm:
    name, _, kind = text.removesuffix("~").partition("=")
    return OperandForm(name[0], int(name[1:] or 0), kind, text.endswith("~"))


def takes(instruction: Instruction) -> bool:
    """Whether an instruction's operands are of the kinds that its form has; true of one without a form.

    What is lifted from machine code has forms of its own beside those of PTX: `atom.arrive`, say.
    """
    chosen = _by_modifiers(instruction.opcode, instruction.modifiers)
    return not chosen or bool(_of_kinds(_kinds_of(instruction), chosen))


def begins_with_destination(instruction: Instruction) -> bool:
    """Whether an instruction's first operand is one that it writes; so is that of an opcode without a row."""
    return _begins(instruction.opcode, instruction.modifiers, _kinds_of(instruction))


@cache
def _begins(opcode: str, modifiers: tuple[str, ...], kinds: tuple[type[Operand], ...]) -> bool:
    forms = forms_of(opcode)
    chosen = _by_modifiers(opcode, modifiers) or forms
    fitting = _of_kinds(kinds, chosen) or [each for form in chosen for each in form.operands]
    begins = next((each[0] for each in fitting if each), None)
    return begins.letter in _WRITTEN if begins else not forms


def complaint(instruction: Instruction, registers: Mapping[str, str]) -> str | None:
    """What is wrong with an instruction's modifiers, types or operands, to stand behind its text; None for nothing.

    registers: the type of each of the function's registers, by name.
    """
    guard = instruction.guard.register if isinstance(instruction.guard, Negated) else instruction.guard
    if guard is not None and registers.get(guard.name, "pred") != "pred":
        return f"needs a guard of .pred, but {guard.name} is of .{registers[guard.name]}"
    forms = forms_of(instruction.opcode)
    if not forms:
        return None
    chosen = _by_modifiers(instruction.opcode, instruction.modifiers)
    if not chosen:
        return _of_modifiers(instruction, forms)
    fitting = _of_kinds(_kinds_of(instruction), chosen)
    if not fitting:
        return "has operands that it does not take"
    types = [each for each in instruction.modifiers if is_type(each)]
    complaints = [_of_types(form, instruction, types, registers) for form in fitting]
    return None if None in complaints else complaints[0]


def _of_modifiers(instruction: Instruction, forms: Iterable[Form]) -> str:
    """What is wrong with modifiers that no form has."""
    if not instruction.modifiers:
        return "needs modifiers that say what it does, such as a type"
    known = frozenset().union(*(each for form in forms for each in (*form.types, *form.needed, *form.optional)))
    unknown = [each for each in instruction.modifiers if each not in known]
    if unknown:
        return f"does not accept .{unknown[0]}"
    return f"has no form with .{'.'.join(instruction.modifiers)}"


@cache
def _by_modifiers(opcode: str, modifiers: tuple[str, ...]) -> tuple[Form, ...]:
    """The forms of an opcode with these modifiers: those that say nothing of them only where no other has them."""
    found = tuple(form for form in forms_of(opcode) if form.has(modifiers))
    return tuple(form for form in found if not form.open) or found


def _kinds_of(instruction: Instruction) -> tuple[type[Operand], ...]:
    return tuple(map(type, instruction.operands))


def _of_kinds(kinds: tuple[type[Operand], ...], forms: Iterable[Form]) -> list[tuple[OperandForm, ...]]:
    """The operands of forms that operands of these kinds fit."""
    return [each for form in forms for each in form.operands if _fit(each, kinds)]


def _fit(form: tuple[OperandForm, ...], kinds: tuple[type[Operand], ...]) -> bool:
    """Whether operands of these kinds are a form's."""
    if form and form[-1].letter == "*":
        form = form[:-1]
        kinds = kinds[: len(form)]
    return len(form) == len(kinds) and all(
        issubclass(kind, _KINDS[each.letter]) for each, kind in zip(form, kinds, strict=True)
    )


def _of_types(
    form: tuple[OperandForm, ...], instruction: Instruction, types: Sequence[str], registers: Mapping[str, str]
) -> str | None:
    """What is wrong with the types of an instruction's operands."""
    count = next((int(each[1:]) for each in instruction.modifiers if each in _VECTORS), 1)
    for each, operand in zip(form, instruction.operands, strict=False):
        kind = _type_of(each, types)
        if not kind:
            continue
        if each.letter in "DS" and not isinstance(operand, Sink):
            parts = len(operand.parts) if isinstance(operand, Vector) else 1
            if instruction.opcode == "mov" and parts > 1 and count == 1:
                if kind[0] != "b" or parts not in (2, 4) or bits_of(kind) // parts < 8:
                    return f"does not accept {parts} registers with type .{kind}"
                kind = f"b{bits_of(kind) // parts}"
            elif parts != count and not (isinstance(operand, Register) and operand.name not in registers):
                return f"needs {count} register{'s' if count > 1 else ''}, but has {parts}"
        problems = (_problem(part, of, each.wide, registers) for part, of in _parts(operand, kind))
        problem = next(filter(None, problems), None)
        if problem:
            return problem
        if isinstance(operand, Vector) and len({_room(part, registers) for part in operand.parts} - {0}) > 1:
            return "needs registers of one width"
    return None


def _type_of(form: OperandForm, types: Sequence[str]) -> str:
    """The type that an operand of a form has, "" for any. types: the instruction's."""
    if form.letter in _OF_THEMSELVES:
        return _OF_THEMSELVES[form.letter]
    if form.type == "wide":
        return f"{types[0][0]}{2 * bits_of(types[0])}"
    if form.type or form.letter not in _TYPED or form.place >= len(types):
        return form.type
    kind = types[form.place]
    if form.letter != "P" or kind in _PACKED:
        return kind
    return "u32" if kind[0] in "bus" and "f" not in kind else "b32"


def _room(operand: Operand, registers: Mapping[str, str]) -> int:
    """The bits of a register; 0 for what is none of the function's."""
    return bits_of(registers[operand.name]) if isinstance(operand, Register) and operand.name in registers else 0


def _parts(operand: Operand, kind: str) -> Iterator[tuple[Operand, str]]:
    """What is of a type in an operand, with that type."""
    match operand:
        case Pair(first, second):
            yield first, kind
            yield second, "pred"
        case Vector(parts):
            for part in parts:
                yield part, kind
        case Negated(register):
            yield register, kind
        case Register() | Immediate():
            yield operand, kind
        case Part(register):
            yield register, kind
        case Address(Register() as register):
            yield register, kind


def _problem(operand: Operand, kind: str, wide: bool, registers: Mapping[str, str]) -> str | None:
    match operand:
        case Register(name):
            found = registers.get(name)
            if kind == "address":
                if found is not None and (found[0] not in "bus" or bits_of(found) > _WORD):
                    return f"needs an address in an integer register, but {name} is of .{found}"
            elif found is not None and not holds(found, kind, wide):
                return f"needs a register of .{kind}, but {name} is of .{found}"
        case Immediate(_, float_bits):
            if kind in _NO_NUMBERS or _is_small(kind):
                return f"does not accept a number with type .{kind}"
            real = kind in ("f32", "f64")
            if real != bool(float_bits) and not (kind[0] == "b" and float_bits in (0, bits_of(kind))):
                return f"does not accept a {'floating-point' if float_bits else 'whole'} number with type .{kind}"
    return None


_WORD = 64  # bits of the widest register that computes
_NO_NUMBERS = {"f16", "bf16", "f16x2", "bf16x2", "u16x2", "s16x2", "f32x2"}  # types that no number is written in
_UNTYPED = {"bf16", "bf16x2", "tf32", "f32x2", "u16x2", "s16x2"}  # types whose numbers stand in registers of bits alone


def _is_small(kind: str) -> bool:
    """Whether it is a type of numbers of eight bits or fewer with a point."""
    return kind.startswith(("e", "ue"))


def holds(register: str, kind: str, wide: bool = False) -> bool:
    """Whether a register of a type can be an operand of a type.

    wide: whether it may have more bits, as in loads, stores and conversions.
    """
    if "pred" in (register, kind):
        return register == kind
    bits, room = bits_of(kind), bits_of(register)
    if kind in _UNTYPED or _is_small(kind):
        return register[0] == "b" and bits == room
    if room != bits and not (wide and bits < room <= _WORD):
        return False
    if register == "f16x2":  # as good as bits
        register = "b32"
    if kind[0] == "b" or register[0] == "b":
        return True
    return register == kind if "f" in (kind[0], register[0]) else True
