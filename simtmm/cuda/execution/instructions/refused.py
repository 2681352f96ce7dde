"""Instructions that are known but do not run, with what each would need."""

from simtmm.cuda.execution.translation.context import Context
from simtmm.cuda.ptx.syntax import Instruction

REASONS = {
    "tcgen05": "works on tensor memory, which is not run here; mma.sync is",
    "multimem": "accesses the memory of several GPUs at once, which is not run here",
    "clusterlaunchcontrol": "takes over the work of another cluster, which is not run here",
    "istypep": "asks for the type of an opaque handle, which is not run here",
    "sured": "updates a surface, which is not run here; suld and sust are",
    **dict.fromkeys(
        ("alloca", "stacksave", "stackrestore"), "makes room on the stack while it runs, which is not run here"
    ),
}


def refuse(context: Context, instruction: Instruction) -> None:
    """Refuse the instruction with a one-line error."""
    raise context.refuse(REASONS[instruction.opcode])


HANDLERS = dict.fromkeys(REASONS, refuse)
