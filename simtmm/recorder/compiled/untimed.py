"""What of a kernel no rule of the simulated machine has, so that its time leaves it out."""

from simtmm.cuda.execution.translation.facts import fact, instructions_of
from simtmm.cuda.execution.translation.program import Program
from simtmm.cuda.ptx.syntax import Instruction

_SUMS = "the additions of cp.reduce (timed as stores)"
WAITS = "waits at mbarriers for blocks of a cluster that do something else"
DROPS = "waits at mbarriers that threads drop out of"


@fact
def untimed(program: Program) -> tuple[str, ...]:
    """In words, of all functions of a program."""
    found = dict.fromkeys(what for each in instructions_of(program) if (what := _of(each)))
    return tuple(found)


@fact
def drops_out(program: Program) -> bool:
    """Whether threads may drop out of mbarriers: later phases need fewer arrivals then, which no event says."""
    return any(each.opcode == "mbarrier" and each.has("arrive_drop") for each in instructions_of(program))


def _of(instruction: Instruction) -> str:
    opcode = instruction.opcode
    if opcode == "cp" and instruction.has("reduce"):
        return _SUMS
    return ""


def warning(kernels: dict[str, tuple[str, ...]]) -> str:
    """The line for reports. kernels: what is left out, by the kernel's name."""
    parts: dict[tuple[str, ...], list[str]] = {}
    for name, left_out in kernels.items():
        parts.setdefault(left_out, []).append(name)
    told = "; ".join(f"{', '.join(what)} (in {', '.join(names)})" for what, names in parts.items())
    return f"the time leaves out {told}: docs/hopper.md"
