"""Tables whose columns stand as all reports' do: of numbers alone flush right, of words alone flush left.

tests/conftest.py has all tables of all tests be such ones, so that any test that prints a table looks at it.
"""

import re

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table

UNITS = r"%|x|s|ms|us|ns|B|kB|MB|GB|TB|KiB|MiB|GiB|bytes|cycles|points|[kMGT]?B/s"
NUMBER = re.compile(rf"[-+±<]?\s?\d[\d,.]*(e[+-]?\d+)?( ?({UNITS}))?")
WORD = re.compile(r"[A-Za-z].*", re.DOTALL)
NO_VALUE = {"", "-"}
# By what a column is headed: words that stand for numbers there, and names of machines among values of axes
ANYWHERE = {"±", "to within", "curves", "machine"}
BESIDE_NUMBERS = "Lines of "  # a profiler's, whose quantities are named beside their numbers


class MisalignedError(AssertionError):
    """A column stands on the wrong side."""


class AlignedTable(Table):
    """One that looks at its columns when it is printed; the first one names its rows, and may hold anything."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        title = str(self.title)  # what has none are values of axes
        for column in self.columns[1:] if title and not title.startswith(BESIDE_NUMBERS) else ():
            cells = [text for each in column.cells if (text := str(each).strip()) not in NO_VALUE]
            if not cells or str(column.header) in ANYWHERE:
                continue
            numbers, words = (all(kind.fullmatch(each) for each in cells) for kind in (NUMBER, WORD))
            if (numbers and column.justify == "left") or (words and column.justify == "right"):
                raise MisalignedError(f"{title}: {column.header!s}: {cells[:3]} stand flush {column.justify}")
        yield from super().__rich_console__(console, options)
