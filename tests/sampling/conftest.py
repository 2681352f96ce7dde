"""Programs of tests are small, and sampled all the same."""

import pytest

from simtmm.sampling import program


@pytest.fixture(autouse=True, scope="module")  # not the session: other modules of the same worker come after
def small_programs_are_sampled():
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(program, "QUICK", 0)
        yield
