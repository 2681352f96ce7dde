"""Which lines of a tree's package a process runs, as coverage.py measures them: for pytest and all that tests start.

A process that a test starts must behave as it would unmeasured: it prints nothing of coverage, and imports no pytest.
"""

import atexit
import os
from pathlib import Path
from typing import Any

DATA = "SIMTMM_COVERAGE"  # a variable: where the lines go
SITE = """\
import os
if "SIMTMM_COVERAGE" in os.environ and "PYTEST_CURRENT_TEST" in os.environ:
    try:
        from tests.mutation.measured import measure
        measure(True).switch_context(os.environ["PYTEST_CURRENT_TEST"].rpartition(" (")[0])
    except Exception:
        pass
"""
PACKAGE = Path(__file__).parents[2] / "simtmm"  # whatever folder a process is started in
WARNINGS = ["module-not-imported", "module-not-measured", "no-data-collected", "already-imported"]


def measure(of_child: bool) -> Any:
    """Begin to measure. of_child: in a process that a test started, whose data lie beside its parent's."""
    import coverage  # late: runs of faults do without

    measured = coverage.Coverage(
        data_file=os.environ[DATA], data_suffix=of_child or None, source=[str(PACKAGE)], config_file=False,
        messages=False, check_preimported=False,
    )  # fmt: skip
    measured.set_option("run:disable_warnings", WARNINGS)
    measured.start()
    if of_child:
        atexit.register(lambda: (measured.stop(), measured.save()))
    return measured
