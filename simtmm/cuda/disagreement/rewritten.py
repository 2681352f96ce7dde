"""Functions of a module, each rewritten when it is needed."""

from collections.abc import Callable, Iterator, Mapping

from simtmm.cuda.ptx.syntax import Function


class Rewritten(Mapping[str, Function]):
    """A module's functions as a change leaves them; a library has hundreds, of which a kernel needs few."""

    def __init__(self, functions: Mapping[str, Function], change: Callable[[Function], Function]) -> None:
        """change: gives a function as it is to be."""
        self._functions, self._change = functions, change
        self._made: dict[str, Function] = {}

    def __getitem__(self, name: str) -> Function:
        if name not in self._made:
            self._made[name] = self._change(self._functions[name])
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)
