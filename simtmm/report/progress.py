"""Progress of long work, on standard error and only where that is a terminal."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from time import monotonic

PATIENCE = 1.0  # seconds before anything is shown
REFRESH = 0.1  # seconds between two looks at the clock's worth of drawing


@contextlib.contextmanager
def watching() -> Iterator[Callable[[str, int, int | None], None]]:
    """A function that takes (stage, done, total) as often as one likes; it draws a bar when work takes long."""
    if not sys.stderr.isatty():
        yield lambda stage, done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn()
    bars = Progress(*columns, console=Console(stderr=True), transient=True)
    tasks = {}
    begun = drawn = monotonic()

    def watch(stage: str, done: int, total: int | None) -> None:
        nonlocal drawn
        now = monotonic()
        if now - begun < PATIENCE or (now - drawn < REFRESH and done != total):
            return
        drawn = now
        if stage not in tasks:
            bars.start()
            tasks[stage] = bars.add_task(stage, total=total)
        bars.update(tasks[stage], completed=done, total=total)

    try:
        yield watch
    finally:
        bars.stop()
