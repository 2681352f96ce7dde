"""From a session's thread to where pages are written: one event loop writes, and JSON has no infinity."""

import asyncio
import json
import math
from collections.abc import Callable
from typing import Any


def sender(write: Callable[[str], None]) -> Callable[[dict[str, Any]], None]:
    """What a session sends by from its thread: the event loop that is running now writes."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:  # outside one, as in a script: the thread writes itself
        loop = None

    def send(part: dict[str, Any]) -> None:
        text = text_of(part)
        if loop is None:
            write(text)
        elif not loop.is_closed():
            loop.call_soon_threadsafe(write, text)

    return send


def text_of(part: dict[str, Any]) -> str:
    """A part as JSON, which has no infinity: null stands for it."""
    try:
        return json.dumps(part, allow_nan=False, separators=(",", ":"))
    except ValueError:  # seldom, and then worth going through all of it
        return json.dumps(finite(part), allow_nan=False, separators=(",", ":"))


def finite(value: Any) -> Any:
    """The same with None instead of what is infinite."""
    if isinstance(value, dict):
        return {key: finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
