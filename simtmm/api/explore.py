"""The live page of a program on a machine, as a widget of a notebook."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from simtmm.errors import OutputError
from simtmm.explorer.start import start
from simtmm.explorer.widget import widget
from simtmm.extras import install
from simtmm.machine import Machine
from simtmm.program import Source


def explore(
    source: Source | None = None,
    machine: Machine | str | Path | None = None,
    parameters: Mapping[str, object] | None = None,
    *,
    story: str | None = None,
    state: str | None = None,
) -> Any:
    """Explore a program on a machine with sliders that start a new simulation; `simtmm explore` in a notebook.

    source: a kernel's name or folder, a trace's or workload's file, or such an object; list ranking if left out.
    machine: a Machine, a machine's name, or a path to its file (.toml); gtx480 if left out.
    parameters: a kernel's parameters that differ from its defaults.
    story: the name of a story to start with (docs/explore.md).
    state: a state to start with, from the address of a page.

    Returns a widget, which a notebook shows. Raises OutputError if the extra `explore` is not installed, and the errors
    of opening the source and the machine.
    """
    begun = start(source, machine, parameters, story, state)
    try:
        return widget(begun)
    except ImportError as error:
        raise OutputError(f"explore: {error.name} is not installed: {install('explore')}") from None
