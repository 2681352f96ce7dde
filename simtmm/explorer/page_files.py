"""The page's files, put together: what it shows, its style and its script, which a notebook's widget has as well."""

import functools
import json
from pathlib import Path

from simtmm.explorer.start import Start

HERE = Path(__file__).parent / "page"
SCRIPTS = ("basics", "controls", "chart", "timeline", "tables", "stories", "explorer")  # one after another
STYLE = "explore.css"


@functools.cache
def script() -> str:
    """The module that exports `explorer`, and `default` for a notebook."""
    return "\n".join((HERE / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS)


@functools.cache
def style() -> str:
    """The style, all of it below one class."""
    return (HERE / STYLE).read_text(encoding="utf-8")


def page_text(start: Start) -> str:
    """The page, with what it starts from."""
    shell = (HERE / "page.html").read_text(encoding="utf-8")
    # "<" within data could end the element it stands in
    return shell.replace("@START@", json.dumps(start.to_dict()).replace("<", "\\u003c"))
