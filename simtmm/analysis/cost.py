"""What simulating a program once more takes, about."""

from simtmm.engine.choice import is_small
from simtmm.machine import Machine
from simtmm.result import Result
from simtmm.trace.streamed import AnyWorkload, StreamedWorkload

RATES = {"fast": 6e6, "reference": 6e4}  # operations, chunks and grants a second (docs/scaling.md)
LONG_COMPUTE = 64


def cost(machine: Machine, workload: AnyWorkload, result: Result) -> float:
    """Seconds that simulating a program once more takes, about: each operation, chunk and grant takes some.

    Of a small one it is the fast engine's, whichever ran: what is tried must not depend on what was compiled before.
    """
    moved = result.transactions
    if isinstance(workload, StreamedWorkload):  # whose result may be of a part of it
        moved = max(moved, sum(tally.chunks for tally in workload.tallies))
    work = workload.operations + moved
    if machine.scheduling.switch == "every-instruction":
        work += min(result.issued, LONG_COMPUTE * workload.operations)  # longer computes are jumped over
    return work / RATES["fast" if is_small(machine, workload) else result.engine]
