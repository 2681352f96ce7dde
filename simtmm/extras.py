"""Optional packages: imported when they are first needed, and what to install where one is absent."""

import importlib
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from simtmm.errors import OutputError, SimtmmError

if TYPE_CHECKING:
    import pandas


def install(extra: str) -> str:
    """The command that installs an extra of pyproject.toml; simtmm is on no package index, so from its checkout.

    extra: its name in pyproject.toml.
    """
    return f"pip install '.[{extra}]' in simtmm's checkout"


def imported(module: str, extra: str, purpose: str, error: type[SimtmmError] = OutputError) -> ModuleType:
    """An optional package.

    extra: of pyproject.toml, that brings it.
    purpose: what needs it, the beginning of a sentence.
    error: what is raised where it is not installed.
    module: its dotted name.
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        raise error(f"{purpose} needs {module}, which is not installed: {install(extra)}") from None


def frame(rows: Sequence[Mapping[str, Any]]) -> "pandas.DataFrame":
    """Rows as a pandas.DataFrame.

    rows: a table a row, its values by column.

    Raises OutputError if pandas is not installed.
    """
    return imported("pandas", "plot", "to_frame").DataFrame(list(rows))
