"""Programs of tests are small, and sampled all the same."""

import pytest

from simtmm.sampling import program


@pytest.fixture(autouse=True, scope="session")
def small_programs_are_sampled():
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(program, "QUICK", 0)
        yield
