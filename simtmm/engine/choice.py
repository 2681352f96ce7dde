"""Which engine has the result first: compiling the fast one takes longer than a small program does in SimPy, once."""

from simtmm.machine import Machine
from simtmm.trace.streamed import AnyWorkload, StreamedWorkload

AUTO = "auto"
SMALL = 20_000  # operations, or instructions where each is granted by itself: about a second in SimPy


def quickest(machine: Machine, workload: AnyWorkload, own_rule: bool = False) -> str:
    """The engine that has the result first: "reference" for a small workload, if "fast" is not compiled for it yet.

    The second small workload on a kind of machine has "fast" compiled: whoever comes again would wait for "reference"
    each time. Both give the same result; which one ran stands in it.

    own_rule: whether a user's rule schedules, for which "fast" is compiled apart.
    """
    if not is_small(machine, workload):
        return "fast"
    from simtmm.engine.fast.launches.launch import is_compiled, is_wanted_again  # late: not every command simulates

    asked = machine, workload, own_rule
    return "fast" if is_compiled(*asked) or is_wanted_again(*asked) else "reference"


def is_small(machine: Machine, workload: AnyWorkload) -> bool:
    """Whether the reference engine takes about a second at most."""
    return not isinstance(workload, StreamedWorkload) and _grants(machine, workload) <= SMALL


def _grants(machine: Machine, workload: AnyWorkload) -> int:
    """About how often the reference engine grants a port."""
    if machine.scheduling.switch == "on-stall":
        return workload.operations
    return sum(tally.issued + tally.operations for tally in workload.tallies)
