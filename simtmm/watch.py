"""Watch: how a caller is told of long work as it goes on."""

from collections.abc import Callable
from typing import TypeAlias

Watch: TypeAlias = Callable[[str, int, int | None], None]
"""Called with the stage, what of it is done, and all there is to do where that is known."""
