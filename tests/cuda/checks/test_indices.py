"""The checks' tables have room for whatever threads do, also in a block whose last warp is not full."""

import contextlib

import pytest

from simtmm.cuda.checks import analysis
from simtmm.errors import SimtmmError
from simtmm.native import Loop
from tests.cuda.checks import faults


@pytest.fixture(scope="module")
def checked_loop():
    """Have the loop that checks look after its indices."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(analysis, "ANALYSE", Loop(analysis.ANALYSE.function, checked=True))
        yield


@pytest.mark.parametrize("threads", [64, 40, 20])
def test_no_index_is_outside_of_its_table(threads, checked_loop, monkeypatch):
    """Kernels that are meant for 64 threads may well go wrong with fewer."""
    monkeypatch.setattr(faults, "THREADS", threads)
    found = 0
    for kernel in [*faults.FAULTS, *faults.right()][:: 1 if threads == 64 else 3]:
        with contextlib.suppress(SimtmmError):
            found += len(faults.found.__wrapped__(kernel).findings)  # not what is known of it
    assert found > 20
