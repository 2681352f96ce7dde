"""What each stage of a run takes, about, before it has begun: by the events recorded, and then by the operations.

The rates are means of the runs in tests/report/runs.csv, on two cores that others used, too. They are no promise: a
stage under way is judged by its own rate.
"""

from collections.abc import Mapping

from simtmm.sampling.long.steady import PART
from simtmm.trace.streamed import AnyWorkload, StreamedWorkload

LOWERING, SIMULATING = "lowering", "simulating"
HELP, CHANGES = "testing what would help", "testing changes to the source"
LOWERED = 1.2e-8  # seconds an event, to count and lower it
SIMULATED = 6e-8  # likewise, to simulate what becomes of it; and, where it is lowered again for that,
LOWERED_AGAIN = 7e-8
OPERATIONS = 4e6  # operations and chunks a second
TESTS = 3.0  # seconds that tests take at most, of the machine and of the source alike, about
TRIED = 2e-7  # seconds of each kind of tests an event, where all of a short run is tried


def after_recording(events: float, what_if: bool = True) -> Mapping[str, float]:
    """Seconds of each stage that comes behind the recording of so many events.

    events: of all launches. what_if: whether changes are tried.
    """
    tests = min(TESTS, TRIED * events) if what_if else 0.0
    return {LOWERING: LOWERED * events, SIMULATING: SIMULATED * events, HELP: tests, CHANGES: tests}


def after_lowering(workload: AnyWorkload, what_if: bool = True) -> Mapping[str, float]:
    """Seconds of each stage that comes behind lowering.

    workload: what is simulated. what_if: as above.
    """
    if isinstance(workload, StreamedWorkload):
        events = float(workload.trace.info.events)
        simulating = LOWERED_AGAIN * events
    else:
        simulating = sum(tally.operations + tally.chunks for tally in workload.tallies) / OPERATIONS
        events = simulating / SIMULATED
    return {**after_recording(events, what_if), LOWERING: 0.0, SIMULATING: simulating}


def after_sample(what_if: bool = True) -> Mapping[str, float]:
    """Seconds of each stage that comes behind the sample of a long run. what_if: as above."""
    tests = TESTS if what_if else 0.0
    return {PART: 0.0, HELP: tests, CHANGES: tests}
