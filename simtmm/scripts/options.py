"""What a user wants of adapters, for the time of a run."""

import contextlib
from collections.abc import Iterator

_elementwise = False


def records_elementwise() -> bool:
    """Whether array functions of a framework are to be kernels that are recorded."""
    return _elementwise


@contextlib.contextmanager
def options(elementwise: bool = False) -> Iterator[None]:
    """The block that these hold for.

    elementwise: whether functions of CuPy become kernels.
    """
    global _elementwise
    before, _elementwise = _elementwise, elementwise
    try:
        yield
    finally:
        _elementwise = before
