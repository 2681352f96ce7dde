"""What the tests of the explorer share: programs that are recorded once."""

import pytest

from simtmm.explorer.programs import Programs
from simtmm.explorer.simulation import prepare
from simtmm.explorer.state import State


@pytest.fixture(scope="session")
def programs():
    return Programs()


@pytest.fixture(scope="session")
def ready(programs):
    """A configuration that can be simulated, from the text of a state."""
    return lambda text: prepare(programs, State.of(text, "copy", "classroom").first)
