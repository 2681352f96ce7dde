"""Instructions in which the lanes of a warp hear of each other: those that take part, without waiting for others."""

from simtmm.cuda.ptx.syntax import Immediate, Pair
from simtmm.cuda.sass.lifting import Lifting
from simtmm.cuda.sass.syntax import MachineInstruction, Reg

ALL = Immediate(0xFFFFFFFF)


def shuffle(lifting: Lifting, instruction: MachineInstruction) -> None:
    """SHFL."""
    inside, to, source, by, clamp = instruction.operands
    mode = next((m.lower() for m in instruction.modifiers if m in ("IDX", "UP", "DOWN", "BFLY")), None)
    if mode is None:
        raise lifting.refuse()
    found, is_inside = lifting.temporary("b32"), lifting.temporary("pred")
    lifting.do(
        f"shfl.sync.here.{mode}.b32", Pair(found, is_inside), lifting.whole(source), lifting.whole(by),
        lifting.whole(clamp), ALL,
    )  # fmt: skip
    lifting.write(to, found)
    lifting.write_predicate(inside, is_inside)


def vote(lifting: Lifting, instruction: MachineInstruction) -> None:
    """VOTE, VOTEU: the lanes for which a condition holds, and whether it does for all, any, or equally."""
    *results, condition = instruction.operands
    given = lifting.predicate(condition)
    mode = next((m.lower() for m in instruction.modifiers if m in ("ALL", "ANY", "EQ")), None)
    if mode is None:
        raise lifting.refuse()
    ballot, holds = lifting.temporary("b32"), lifting.temporary("pred")
    lifting.do("vote.sync.here.ballot.b32", ballot, given, ALL)
    lifting.do(f"vote.sync.here.{'uni' if mode == 'eq' else mode}.pred", holds, given, ALL)
    for to in results:
        if isinstance(to, Reg) and to.is_predicate:
            lifting.write_predicate(to, holds)
        else:
            lifting.write(to, ballot)


HANDLERS = {"SHFL": shuffle, "VOTE": vote, "VOTEU": vote}
