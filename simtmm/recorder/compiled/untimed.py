"""What of a kernel no rule of the simulated machine has, so that its time leaves it out."""

from simtmm.cuda.execution.translation.program import Program
from simtmm.cuda.ptx.syntax import Instruction

_GROUPS = "the asynchronous execution and shared-memory reads of wgmma"
_SUMS = "the additions of cp.reduce (timed as stores)"
WAITS = "waits at mbarriers for blocks of a cluster that do something else"
DROPS = "waits at mbarriers that threads drop out of"
_CLUSTERS = "the bandwidth between blocks of a cluster, and their placement"


def untimed(program: Program) -> tuple[str, ...]:
    """In words, of all functions of a program."""
    instructions = [each for code in program.codes for block in code.flow.blocks for each in block.instructions]
    found = dict.fromkeys(what for each in instructions if (what := _of(each)))
    return tuple(found)


def drops_out(program: Program) -> bool:
    """Whether threads may drop out of mbarriers: later phases need fewer arrivals then, which no event says."""
    return any(
        each.opcode == "mbarrier" and each.has("arrive_drop")
        for code in program.codes
        for block in code.flow.blocks
        for each in block.instructions
    )


def _of(instruction: Instruction) -> str:
    opcode = instruction.opcode
    if opcode == "cp" and instruction.has("reduce"):
        return _SUMS
    if opcode == "cp" and instruction.has("bulk") and instruction.has("shared::cta") and not instruction.has("global"):
        return _CLUSTERS
    if opcode == "mapa" or (instruction.has("multicast::cluster", "cluster") and opcode in ("barrier", "cp")):
        return _CLUSTERS
    return ""


def warning(kernels: dict[str, tuple[str, ...]]) -> str:
    """The line for reports. kernels: what is left out, by the kernel's name."""
    parts: dict[tuple[str, ...], list[str]] = {}
    for name, left_out in kernels.items():
        parts.setdefault(left_out, []).append(name)
    told = "; ".join(f"{', '.join(what)} (in {', '.join(names)})" for what, names in parts.items())
    return f"the time leaves out {told}: docs/hopper.md"
