"""cupy.cuda.nvtx: ranges for a profiler that is not there; taken, and without effect."""

from typing import Any


def RangePush(message: str, id_color: int = -1) -> int:  # noqa: N802 - CuPy's name
    """A range begins."""
    return 0


RangePushC = RangePush


def RangePop() -> int:  # noqa: N802 - CuPy's name
    """The last range ends."""
    return 0


def Mark(message: str, id_color: int = -1) -> None:  # noqa: N802 - CuPy's name
    """A point in time."""


MarkC = Mark


class range:  # noqa: A001, N801 - CuPy's name
    """A range as a block."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        pass

    def __enter__(self) -> "range":
        return self

    def __exit__(self, *error: object) -> None:
        pass
