"""Where the measured values of the reproductions lie."""

from pathlib import Path

from simtmm.errors import StudyError
from simtmm.files import data_file


def measured_file(name: str) -> Path:
    """A file of traces/measured. Raises StudyError where it is not there."""
    path = data_file("traces", f"measured/{name}")
    if path is None:
        raise StudyError(f"traces/measured/{name}: is not there")
    return path
