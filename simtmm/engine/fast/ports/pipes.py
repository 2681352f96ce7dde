"""Pipes of a group, which instructions of some classes pass behind their port (section 5)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from simtmm.native import inlined
from simtmm.workload import OF_CLASS


@inlined
def has_pipe(s, what):
    """Whether an operation is of a class with a pipe that takes time."""
    return what >= OF_CLASS and s.pipes[what - OF_CLASS].interval > 0


def pass_pipe(s, g, slot, what, tick, instructions):
    """Have instructions take their pipe, the first at a tick or later: the start of the last."""
    number = what - OF_CLASS
    interval = s.pipes[number].interval
    pipe = g * s.parameters.pipes + s.pipes[number].first + slot % s.pipes[number].count
    first = max(tick, s.pipe_free[pipe])
    s.pipe_free[pipe] = first + instructions * interval
    return first + (instructions - 1) * interval


@inlined
def longest_sleep(s, g, t):
    """Ticks from t on for which a warp of a group sleeps behind an instruction at most, out of pipeline and pipe."""
    longest = s.parameters.depth
    pipes = s.parameters.pipes
    for pipe in range(g * pipes, g * pipes + pipes):
        longest = max(longest, s.pipe_free[pipe] - t)
    return longest
