"""No shipped kernel's verdict is contradicted by its own trials, on six machines; a day tries a share of the pairs."""

import pytest
from hypothesis import settings

from simtmm.analysis.run import run
from simtmm.catalogue import kernel_folders
from simtmm.errors import SimtmmError
from tests.analysis.verdicts import contradiction
from tests.examples import DAILY

MACHINES = ("gtx480", "v100", "rtx-2080-ti", "rtx-3080", "a100-80", "h100-sxm")
EACH = 13 if settings().max_examples <= DAILY else 1  # one in so many pairs; all with the long profile
PAIRS = [(kernel, machine) for kernel in sorted(kernel_folders()) for machine in MACHINES]


@pytest.mark.parametrize(("kernel", "machine"), PAIRS[::EACH])
def test_a_shipped_kernels_verdict_is_not_contradicted(kernel, machine):
    try:
        done = run(kernel, machine)
    except SimtmmError as error:
        pytest.skip(f"does not run there: {error}")
    assert not contradiction(done.verdict)
