"""pytest's fixture `simtmm_recording`: the launches of a test."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from simtmm.recorder.direct.recording import Recording

MARKER = "simtmm"


def pytest_configure(config: Any) -> None:
    """Make the marker known, which gives a test's recording its options."""
    config.addinivalue_line("markers", f"{MARKER}(machine=..., **options): of simtmm.recording, for simtmm_recording")


@pytest.fixture
def simtmm_recording(request: pytest.FixtureRequest) -> "Iterator[Recording]":
    """A recording of what the test launches, under way; `simtmm_recording.stop()` ends it and gives the trace.

    Its options are those of simtmm.recording: `@pytest.mark.simtmm(machine="h100-sxm", kernel="gemm_*")`.
    """
    from simtmm.scripts.recording import recording

    marker = request.node.get_closest_marker(MARKER)
    with recording(
        *(marker.args if marker else ()), **{"name": request.node.name, **(marker.kwargs if marker else {})}
    ) as r:
        yield r
