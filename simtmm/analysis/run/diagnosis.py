"""What binds a run, and what would help: changes are tried on all of it, or on an excerpt where that is long."""

from simtmm.analysis.cost import cost
from simtmm.analysis.run.expected import CHANGES, HELP
from simtmm.analysis.run.known_changes import known_changes, known_trials
from simtmm.analysis.source_changes import Advice, try_changes
from simtmm.analysis.source_changes.excerpt import excerpt_of
from simtmm.analysis.verdict import Verdict, verdict
from simtmm.analysis.what_if import SECONDS, WhatIf, try_out
from simtmm.engine import simulate
from simtmm.machine import Machine
from simtmm.result import Result
from simtmm.trace.info import TraceInfo
from simtmm.trace.streamed import AnyWorkload
from simtmm.watch import telling

ON_ALL = 5  # changes of the machine, at least, that there has to be time for to try them on all of a run,
ON_EXCERPT = 10  # and as many as there is time for on a part of it, about


def changes_tried(
    machine: Machine,
    workload: AnyWorkload,
    result: Result,
    what_if: bool,
    info: TraceInfo | None,
    is_left: bool = False,
) -> tuple[Advice, ...]:
    """What was tried that the programmer of what was run could change, the greatest gain first; nothing unless what_if.

    machine, workload, result: what was simulated, and what came of it.
    info: the metadata of the trace that the workload was lowered from, None without a trace.
    is_left: whether the result is of less than the workload.
    """
    if not what_if:
        return ()
    telling(CHANGES)
    launches = info.launches if info is not None and len(info.launches) == workload.launches else ()

    def tried() -> tuple[Advice, ...]:
        return try_changes(machine, workload, result, launches, is_left=is_left)

    return known_changes(machine, workload, result, launches, is_left, tried)


def diagnosed(
    machine: Machine,
    workload: AnyWorkload,
    result: Result,
    what_if: bool,
    on: Machine | None = None,
    is_left: bool = False,
) -> Verdict:
    """What binds a run, and what would help it.

    machine, workload, result: what was simulated, and what came of it.
    what_if: whether to try changes of the machine, by simulating them.
    on: the machine that it was simulated on, if that is not `machine` but a part of it.
    is_left: whether the simulation was left before its end.
    """
    if not what_if:
        return verdict(machine, result, workload, (), "estimated from what its warps wait for")
    telling(HELP)
    on = on or machine
    takes, part = cost(machine, workload, result), ""
    tried: tuple[WhatIf, ...] = ()
    if takes <= SECONDS / ON_ALL:
        tried = _tried_on(on, workload, result, is_left)
    elif (excerpt := excerpt_of(on, workload, result, SECONDS / ON_EXCERPT)) is not None:
        alone = simulate(excerpt.machine, excerpt.workload, result.engine, stalls=True)
        tried, part = _tried_on(excerpt.machine, excerpt.workload, alone), excerpt.words
    why = (
        ""
        if tried or not takes
        else f"estimated from what its warps wait for: each test of a change takes {takes:.0f} s"
    )
    return verdict(machine, result, workload, tried, why, part)


def _tried_on(machine: Machine, workload: AnyWorkload, result: Result, is_left: bool = False) -> tuple[WhatIf, ...]:
    def tried() -> tuple[WhatIf, ...]:
        return try_out(machine, workload, result, is_left=is_left)

    return known_trials(machine, workload, result, is_left, tried)
