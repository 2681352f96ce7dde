"""Names for the columns of an array's rows: `s.warp[w].ready` is `s.warp[w, Warp.ready]`."""

import inspect
from collections.abc import Iterator
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import numpy as np

Named = dict[str, Any]  # Columns by the names of parameters or fields, a dict of these for a named tuple


class Columns:
    """The columns of a row by name, each an attribute: its number, an int64.

    An array has them where an annotation says so, of a parameter of a compiled function or of a field of a named tuple
    that it is given: `warp: Annotated[Any, Warp]`.

    len(): integers of a row.
    """

    def __init__(self, *names: str, room: int = 0) -> None:
        """names: of the columns in order; a text may hold several. room: integers of a row, if more than these."""
        self._names = tuple(name for text in names for name in text.split())
        self._room = max(room, len(self._names))
        if len(set(self._names)) < len(self._names):
            raise ValueError(f"two columns of one name: {self._names}")
        for number, name in enumerate(self._names):
            setattr(self, name, np.int64(number))

    def __len__(self) -> int:
        return self._room

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __getattr__(self, name: str) -> np.int64:  # of what __init__ has not set: for the test of types alone
        raise AttributeError(f"no column {name} among {', '.join(self._names)}")


class Rows:
    """An array whose rows have columns by name, for Python: `rows[w].ready`; one of one dimension is a row.

    array: integers, a row along the last dimension. columns: of a row.
    """

    def __init__(self, array: Any, columns: Columns) -> None:
        vars(self).update(_array=array, _columns=columns, shape=array.shape)

    def __len__(self) -> int:
        return len(self._array)

    def __getitem__(self, places: Any) -> Any:
        indices = places if isinstance(places, tuple) else (places,)
        is_row = len(indices) == self._array.ndim - 1 and all(isinstance(each, int | np.integer) for each in indices)
        return Rows(self._array[places], self._columns) if is_row else self._array[places]

    def __setitem__(self, places: Any, value: Any) -> None:
        self._array[places] = value

    def __getattr__(self, name: str) -> Any:
        return self._array[getattr(self._columns, name)]

    def __setattr__(self, name: str, value: Any) -> None:
        self._array[getattr(self._columns, name)] = value


def named_columns(function: Any) -> Named:
    """What the annotations of a function say of its parameters' columns.

    function: one that is compiled; of one that another part of simtmm wrote nothing is known.
    """
    return _of_hints(function) if inspect.isfunction(function) else {}


def _of_hints(annotated: Any) -> Named:
    found: Named = {}
    for name, hint in get_type_hints(annotated, include_extras=True).items():
        if get_origin(hint) is Annotated:
            (columns,) = (each for each in get_args(hint)[1:] if isinstance(each, Columns))
            found[name] = columns
        elif hasattr(hint, "_fields"):
            found[name] = _of_hints(hint)
    return found
