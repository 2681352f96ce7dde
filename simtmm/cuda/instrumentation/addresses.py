"""The address by which a thread accesses memory, and the threads that do, as PTX in front of the access."""

from collections.abc import Mapping

from simtmm.cuda.instrumentation.layout import SPACE_SHIFT, SPACES
from simtmm.cuda.ptx.flow.copy_groups import limit_of
from simtmm.cuda.ptx.flow.steps import SHAPE, is_bulk, is_of_texture, space_of
from simtmm.cuda.ptx.syntax import Address, Immediate, Instruction, Negated, Operand, Register, Symbol
from simtmm.cuda.ptx.types import bits_of, is_type


def why_not(access: Instruction) -> str:
    """Why an access can't be written down on a GPU; "" where it can."""
    if is_of_texture(access):
        return "PTX does not say which texel a thread reads or writes"
    if is_bulk(access):
        return "bulk copies are not recorded on a GPU"
    if access.opcode in ("mbarrier", "wgmma", "bar", "barrier"):
        return "mbarriers and warp-group products are not recorded on a GPU"
    if space_of(access) == "param":
        return "parameters read through a pointer are not recorded on a GPU"
    return ""


def written(name: str) -> str:
    """A register's or a variable's name as the text has it: the parser renames those of inner scopes."""
    return name.partition("@")[0]


def condition(access: Instruction, registers: Mapping[str, str]) -> tuple[list[str], str]:
    """Lines of PTX, and the predicate of the threads here that access memory; "" for all of them."""
    conditions = []
    lines = []
    if access.guard is not None:
        conditions.append(_predicate(access.guard))
    own = ""
    if access.opcode in ("ldmatrix", "stmatrix"):
        rows = 8 * next(int(m[1:]) for m in access.modifiers if m in ("x1", "x2", "x4"))
        if rows < 32:  # lanes that name no row
            own = f"setp.lt.u32 %simtmm_if, %simtmm_lane, {rows};"
    elif access.opcode == "cp" and (limit := limit_of(access)) is not None:
        if isinstance(limit, Negated):
            own = f"mov.pred %simtmm_if, {written(limit.register.name)};"
        elif isinstance(limit, Register) and registers.get(limit.name) == "pred":
            own = f"not.pred %simtmm_if, {written(limit.name)};"  # ignores its source
        else:
            own = f"setp.ne.u32 %simtmm_if, {_value(limit)}, 0;"  # reads none of its source
    if own:
        lines.append(own)
        conditions.append("%simtmm_if")
    if len(conditions) < 2:
        return lines, "".join(conditions)
    guard = conditions[0]
    if guard.startswith("!"):
        lines.append(f"not.pred %simtmm_q, {guard[1:]};")
        guard = "%simtmm_q"
    return [*lines, f"and.pred %simtmm_if, {guard}, %simtmm_if;"], "%simtmm_if"


def address(access: Instruction, registers: Mapping[str, str], has_constants: bool) -> list[str]:
    """Lines that leave an access's address in %simtmm_address.

    registers: of the function, with their types. has_constants: whether a generic address may be one of constants.
    """
    space = _space(access)
    copies = access.opcode == "cp"  # of which what is read is recorded, behind where it goes
    operand = [each for each in access.operands if isinstance(each, Address)][1 if copies else 0]
    lines = _whole(operand, registers)
    if access.opcode == "wmma":
        lines += _of_lane(access, registers)
    if not space:
        return lines + _by_space(has_constants)
    if SPACES[space]:
        lines.append(f"or.b64 %simtmm_address, %simtmm_address, {SPACES[space] << SPACE_SHIFT};")
    return lines


def _space(access: Instruction) -> str:
    """The state space of an address, "" for a generic one."""
    return "global" if access.opcode == "cp" else space_of(access)


def _whole(operand: Address, registers: Mapping[str, str]) -> list[str]:
    base, offset = operand.base, operand.offset
    match base:
        case Symbol(name, more):
            moved = f"mov.u64 %simtmm_address, {written(name)};"
            offset += more
        case Immediate(number):
            return [f"mov.u64 %simtmm_address, {number + offset};"]
        case Register(name) if bits_of(registers.get(name, "b64")) == 32:
            lines = [f"add.s32 %simtmm_x, {written(name)}, {_signed(offset)};"]
            return [*lines, "cvt.u64.u32 %simtmm_address, %simtmm_x;"]
        case Register(name):
            moved = f"mov.b64 %simtmm_address, {written(name)};"
    return [moved] + ([f"add.s64 %simtmm_address, %simtmm_address, {offset};"] if offset else [])


def _signed(offset: int) -> int:
    return (offset + (1 << 31)) % (1 << 32) - (1 << 31)


def _of_lane(access: Instruction, registers: Mapping[str, str]) -> list[str]:
    """wmma.load and wmma.store: each lane stands for as many elements as any, one lane behind the other."""
    shape = next(found for found in map(SHAPE.fullmatch, access.modifiers) if found)
    m, n, k = map(int, shape.groups())
    rows, columns = {"a": (m, k), "b": (k, n)}.get(next((x for x in access.modifiers if x in "abcd"), "d"), (m, n))
    bits = bits_of([x for x in access.modifiers if is_type(x)][-1])
    behind = columns if access.has("row") else rows  # elements that lie behind one another
    each = rows * columns // 32
    places = [at for at, operand in enumerate(access.operands) if isinstance(operand, Address)]
    stride = access.operands[places[0] + (1 if "load" in access.modifiers else 2) :]
    lines = [
        f"mul.lo.u32 %simtmm_x, %simtmm_lane, {each};",
        f"div.u32 %simtmm_y, %simtmm_x, {behind};",
        f"rem.u32 %simtmm_x, %simtmm_x, {behind};",
        "cvt.u64.u32 %simtmm_t, %simtmm_y;",
    ]
    match stride:
        case (Register(name), *_) if bits_of(registers[name]) == 32:
            lines.append(f"cvt.s64.s32 %simtmm_u, {written(name)};")
        case (other, *_):
            lines.append(f"mov.b64 %simtmm_u, {_value(other)};")
        case _:
            lines.append(f"mov.b64 %simtmm_u, {behind};")
    return [
        *lines,
        "mul.lo.s64 %simtmm_t, %simtmm_t, %simtmm_u;",
        "cvt.u64.u32 %simtmm_u, %simtmm_x;",
        "add.s64 %simtmm_t, %simtmm_t, %simtmm_u;",
        f"mul.lo.s64 %simtmm_t, %simtmm_t, {bits};",
        "shr.s64 %simtmm_t, %simtmm_t, 3;",
        "add.s64 %simtmm_address, %simtmm_address, %simtmm_t;",
    ]


def _by_space(has_constants: bool) -> list[str]:
    """A generic address as one of the state space it lies in."""
    lines = ["mov.b64 %simtmm_t, %simtmm_address;"]
    for space in ("shared", "local", *(("const",) if has_constants else ())):
        lines += [
            f"isspacep.{space} %simtmm_q, %simtmm_t;",
            f"@%simtmm_q cvta.to.{space}.u64 %simtmm_address, %simtmm_t;",
            f"@%simtmm_q or.b64 %simtmm_address, %simtmm_address, {SPACES[space] << SPACE_SHIFT};",
        ]
    return lines


def _predicate(guard: Register | Negated) -> str:
    return f"!{written(guard.register.name)}" if isinstance(guard, Negated) else written(guard.name)


def _value(operand: Operand) -> str:
    match operand:
        case Register(name):
            return written(name)
        case Immediate(number):
            return str(number)
    raise ValueError(f"{operand} is not a value")
