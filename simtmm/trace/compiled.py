"""Loops over events, compiled by Numba when they are first called and kept in its cache."""

from collections.abc import Callable
from typing import Any


class Compiled:
    """A function that Numba compiles at its first call; without a writable cache folder it still runs."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._compiled: Callable[..., Any] | None = None
        self.__doc__ = function.__doc__

    def __call__(self, *arguments: Any) -> Any:
        if self._compiled is None:
            self._compiled = self._compile()
        return self._compiled(*arguments)

    def _compile(self) -> Callable[..., Any]:
        import numba  # here, because it takes a while and not every command needs it

        try:
            compiled: Callable[..., Any] = numba.njit(self._function, cache=True, nogil=True)
        except RuntimeError:  # Numba found no folder that it may write its cache to
            compiled = numba.njit(self._function, nogil=True)
        return compiled
