"""cupy.cuda.profiler: taken, and without effect."""


def start() -> None:
    """A profiler would begin."""


def stop() -> None:
    """It would end."""
