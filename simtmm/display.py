"""How values show and draw themselves in a notebook: by renderers that the package names, once it is imported.

Nothing here knows who they are, so that what can be shown needs nothing of what shows it.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol


class Picture(Protocol):
    """A picture of a value, which Jupyter shows. figure: matplotlib's Figure."""

    figure: Any

    def save(self, path: str | Path) -> None:
        """Write it to a .png, .svg or .pdf file. Raises OutputError."""


class Renderers(Protocol):
    """What shows values: a module with both functions, say."""

    @property
    def html_of(self) -> Callable[["Displayed"], str]:
        """A value's report as HTML."""

    @property
    def picture_of(self) -> Callable[..., Picture]:
        """A picture of a value, with options of its class. Raises OutputError."""


_found: list[Callable[[], Renderers]] = []


def show_by(renderers: Callable[[], Renderers]) -> None:
    """Have values shown by what a function gives, which is called when the first value is shown."""
    _found[:] = [renderers]


class Displayed:
    """A value that Jupyter shows as the command line reports it, in tables of HTML."""

    def _repr_html_(self) -> str:
        return _found[0]().html_of(self)


def drawn(value: Displayed, **options: Any) -> Picture:
    """A picture of a value, as its class has them.

    value: one of a class that has pictures.
    options: of the picture, as `.plot()` takes them.

    Raises OutputError, where matplotlib is not installed too.
    """
    return _found[0]().picture_of(value, **options)
