"""What each stage of a run takes, about, before it has begun: by the events recorded, and then by the operations.

The rates are about those of the runs in tests/report/runs.csv, on two cores. They are no promise: a stage under way is
judged by its own rate.
"""

from collections.abc import Mapping

from simtmm.sampling import PART
from simtmm.trace.streamed import AnyWorkload, StreamedWorkload

LOWERING, SIMULATING = "lowering", "simulating"
OF_SAMPLE = " a sample"  # behind them, where they are of one
HELP, CHANGES = "testing what would help", "testing changes to the source"
LOWERED = 1.5e-8  # seconds an event, to count and lower it
SIMULATED = 3e-8  # likewise, to simulate what becomes of it; and, where it is lowered again for that,
LOWERED_AGAIN = 4e-8
OPERATIONS = 6e6  # operations and chunks a second
MACHINES, SOURCES = 3.0, 4.5  # seconds that tests of changes take at most, of the machine and of the source, about
TRIED = 2e-7  # seconds of each kind of tests an event, where all of a short run is tried


def after_recording(events: float, what_if: bool = True, is_sample: bool = False) -> Mapping[str, float]:
    """Seconds of each stage that comes behind the recording of so many events.

    events: of all launches. what_if: whether changes are tried. is_sample: whether they are those of a sample.
    """
    of = OF_SAMPLE if is_sample else ""
    tried = TRIED * events if what_if else 0.0
    tests = {HELP: min(MACHINES, tried), CHANGES: min(SOURCES, tried)}
    return {LOWERING + of: LOWERED * events, SIMULATING + of: SIMULATED * events, **tests}


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
    """Seconds of each stage that comes behind the recording of a long run's sample. what_if: as above."""
    of_sample = {LOWERING + OF_SAMPLE: 0.0, SIMULATING + OF_SAMPLE: 0.0, PART: 0.0}
    return {**of_sample, HELP: MACHINES * what_if, CHANGES: SOURCES * what_if}
