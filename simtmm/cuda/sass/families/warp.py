"""Instructions that exchange data between the lanes of a warp that take part, without waiting for others.

Lanes that the guard leaves out take no part: `@P0 VOTE.ANY R0, PT, PT`, for instance, gives the lanes that have P0.
"""

from simtmm.cuda.ptx.syntax import Immediate, Pair
from simtmm.cuda.sass.lifting import Lifting
from simtmm.cuda.sass.syntax import MachineInstruction, Reg

ALL = Immediate(0xFFFFFFFF)


def shuffle(lifting: Lifting, instruction: MachineInstruction) -> None:
    """SHFL."""
    lifting.only("IDX", "UP", "DOWN", "BFLY")
    inside, to, source, by, clamp = instruction.operands
    mode = next((m.lower() for m in instruction.modifiers if m in ("IDX", "UP", "DOWN", "BFLY")), None)
    if mode is None:
        raise lifting.refuse()
    found, is_inside = lifting.temporary("b32"), lifting.temporary("pred")
    lifting.do(
        f"shfl.sync.here.{mode}.b32", Pair(found, is_inside), lifting.whole(source), lifting.whole(by),
        lifting.whole(clamp), ALL, guard=True,
    )  # fmt: skip
    lifting.write(to, found)
    lifting.write_predicate(inside, is_inside)


def vote(lifting: Lifting, instruction: MachineInstruction) -> None:
    """VOTE, VOTEU: the lanes for which a condition holds, and whether it does for all, any, or equally."""
    lifting.only("ALL", "ANY", "EQ")
    *results, condition = instruction.operands
    given = lifting.predicate(condition)
    mode = next((m.lower() for m in instruction.modifiers if m in ("ALL", "ANY", "EQ")), None)
    if mode is None:
        raise lifting.refuse()
    ballot, holds = lifting.temporary("b32"), lifting.temporary("pred")
    lifting.do("vote.sync.here.ballot.b32", ballot, given, ALL, guard=True)
    lifting.do(f"vote.sync.here.{'uni' if mode == 'eq' else mode}.pred", holds, given, ALL, guard=True)
    for to in results:
        if isinstance(to, Reg) and to.is_predicate:
            lifting.write_predicate(to, holds)
        else:
            lifting.write(to, ballot)


def match(lifting: Lifting, instruction: MachineInstruction) -> None:
    """MATCH: the lanes whose register, or pair, holds the same; with .ALL whether all do, and then all of them."""
    lifting.only("ALL", "ANY", "U64")
    *results, source = instruction.operands
    kind = "b64" if instruction.has("U64") else "b32"
    given = lifting.pair(source) if kind == "b64" else lifting.bits(source)
    lanes = lifting.temporary("b32")
    if instruction.has("ANY"):
        if len(results) != 1:
            raise lifting.refuse()
        lifting.do(f"match.any.sync.here.{kind}", lanes, given, ALL, guard=True)
        lifting.write(results[0], lanes)
        return
    alike = lifting.temporary("pred")
    lifting.do(f"match.all.sync.here.{kind}", Pair(lanes, alike), given, ALL, guard=True)
    for to in results:
        if isinstance(to, Reg) and to.is_predicate:
            lifting.write_predicate(to, alike)
        else:
            lifting.write(to, lanes)


_REDUCTIONS = {"SUM": "add", "MIN": "min", "MAX": "max", "OR": "or", "XOR": "xor"}


def reduce(lifting: Lifting, instruction: MachineInstruction) -> None:
    """REDUX, CREDUX: over the lanes that take part; "and" is written as no operation."""
    to, source = instruction.operands
    if instruction.has("F32"):
        lifting.only("F32", "MIN", "MAX", "MINABS", "MAXABS", "NAN")
        operation = next((m for m in instruction.modifiers if m[:3] in ("MIN", "MAX")), None)
        if operation is None:
            raise lifting.refuse()
        how = ".abs" if operation.endswith("ABS") else ""
        how += ".NaN" if instruction.has("NAN") else ""
        name, kind = operation[:3].lower(), f"{how}.f32"
    else:
        lifting.only("S32", *_REDUCTIONS)
        name = next((_REDUCTIONS[m] for m in instruction.modifiers if m in _REDUCTIONS), "and")
        whole = ".s32" if instruction.has("S32") else ".u32"
        kind = ".b32" if name in ("and", "or", "xor") else whole
    found = lifting.temporary("b32")
    lifting.do(f"redux.sync.here.{name}{kind}", found, lifting.whole(source), ALL, guard=True)
    lifting.write(to, found)


def elect(lifting: Lifting, instruction: MachineInstruction) -> None:
    """ELECT: a predicate that one of the lanes that take part has, the lowest, and which that is."""
    if instruction.modifiers or len(instruction.operands) != 3:
        raise lifting.refuse()
    chosen, to, condition = instruction.operands
    if condition != Reg("PT"):
        raise lifting.refuse()
    leader, is_leader = lifting.temporary("b32"), lifting.temporary("pred")
    lifting.do("elect.sync.here", Pair(leader, is_leader), ALL, guard=True)
    lifting.write(to, leader)
    lifting.write_predicate(chosen, is_leader)


def result_of_barrier(lifting: Lifting, instruction: MachineInstruction) -> None:
    """B2R.RESULT: what the last BAR.RED has found."""
    lifting.only("RESULT")
    if not instruction.has("RESULT"):
        raise lifting.refuse()
    for to in instruction.operands:
        if isinstance(to, Reg) and to.is_predicate:
            lifting.write_predicate(to, lifting.predicate_register(Reg("P.barrier")))
        elif isinstance(to, Reg) and not to.is_zero:
            lifting.write(to, lifting.register("barrier.count"))


HANDLERS = {
    "SHFL": shuffle,
    "VOTE": vote,
    "VOTEU": vote,
    "MATCH": match,
    **dict.fromkeys(("REDUX", "CREDUX"), reduce),
    "ELECT": elect,
    "B2R": result_of_barrier,
}
