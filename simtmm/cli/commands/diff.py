"""`simtmm diff`."""

from simtmm.cli.commands.gate import GateOptions
from simtmm.cli.options.environment import EnvironmentOptions
from simtmm.cli.options.grouped import grouped
from simtmm.cli.options.output import DocumentOptions
from simtmm.requests.diff import DiffRequest
from simtmm.requests.files import printing


@grouped
def diff(*, request: DiffRequest, gate: GateOptions, environment: EnvironmentOptions, result: DocumentOptions) -> None:
    """Compare two runs, and explain the difference in time.

    By reason, by source line and by array. The two may differ in program, machine, machine key, launch or parameter, or
    be saved runs. --baseline compares the kernels of a file with their earlier times.

    Exit status: 0 done; 1, with --baseline, a kernel grew by more than --fail-above; 2 wrong input.
    """
    from simtmm.report.diff import describe_difference, words
    from simtmm.report.progress import watching

    if gate.baseline is not None:
        gate.compare(request.a, {f"B = {request.b}": request.b, **request.given()}, result, request.what_if)
        return
    gate.refuse()
    with watching() as watch, printing(result.as_json):
        found = request.compared(watch, result.as_json)
    result.show(describe_difference(found), {"words": words(found), **found.to_dict()})
