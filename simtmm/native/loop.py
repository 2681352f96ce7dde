"""A loop that is compiled when it is first called with arguments of some kinds, and kept in the user's cache."""

import array
import contextlib
import ctypes
import hashlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simtmm.cache import find, is_kept, keep
from simtmm.cache.compiled import announced, kept_folder
from simtmm.errors import OutputError
from simtmm.native.addresses import address_of
from simtmm.native.shipped import has_shipped, label_of, shipped
from simtmm.native.values import SIGNED, WIDTHS, Array, Parameter, Part, Records, Struct
from simtmm.native.written import parameters_of

_ELEMENTS = {np.dtype(name): name for name in WIDTHS}  # of native byte order; a dtype's own name takes long to make
USUAL = {"the trace encoder": 2.0, "trace lowering": 5.0}  # seconds that it takes to compile loops of a name, about;
USUAL_OF_OTHERS = 6.0  # and others of those that have one
CHECK = "SIMTMM_CHECK_INDICES"  # a variable: with 1, each loop checks each of its indices, and is slower for it
_CALLED = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)  # others may run Python meanwhile


class Loop:
    """A function, to be called with arrays, named tuples of them, and integers; it gives an integer or 0.

    Arrays are of integers, or, of one dimension, of records of integers and of arrays of these.

    constants: its parameters for each value of which, an integer, it is compiled by itself. rows: its arrays, or fields
    of named tuples, for each last extent of which it is, too: few of them, each better known than looked up. what: what
    is compiled, to be named in a message where that takes a while; none if left out. checked: whether an index outside
    of its array or a division by zero raises IndexError once the loop is over, which makes it slower; without, anything
    may come of them. Left out: what the environment variable SIMTMM_CHECK_INDICES says.
    """

    def __init__(
        self,
        function: Any,
        constants: Sequence[str] = (),
        what: str = "",
        checked: bool | None = None,
        rows: Sequence[str] = (),
    ) -> None:
        """function: what is compiled: a function of the small part of Python that simtmm/native knows."""
        self.function = function
        self._names = parameters_of(function)
        self._constants = frozenset(constants)
        self._rows = frozenset(rows)
        self._what = what
        self._checked = os.environ.get(CHECK) == "1" if checked is None else checked
        self._variants: dict[tuple[Any, ...], _Code] = {}
        self._compiling = threading.Lock()
        self.__doc__ = function.__doc__

    def __call__(self, *arguments: Any) -> int:
        """Run the loop as machine code, which is compiled at the first call."""
        code, table = self._ready(arguments)
        given: int = code.function(table.buffer_info()[0])
        if table[0]:
            raise _out_of_bounds(self.function.__module__, table[0])
        return given

    def bind(self, *arguments: Any) -> "Bound":
        """The same with its arguments, to be called without any, by other loops too (`call_bound`)."""
        code, table = self._ready(arguments)
        return Bound(code.address, table.buffer_info()[0], table, code, arguments, self.function.__module__)

    def _ready(self, arguments: Sequence[Any]) -> tuple["_Code", "array.array[int]"]:
        """What is compiled for such arguments, and the table of these.

        Called for each run, so what they are compiled for is only put into words where that is not known yet.
        """
        kinds: list[Any] = []
        numbers = [0]
        taken: list[tuple[int, int, bool]] = []
        for name, argument in zip(self._names, arguments, strict=True):
            if name in self._constants:
                kinds.append(int(argument))
            elif isinstance(argument, tuple):
                self._note_tuple(name, argument, kinds, numbers, taken)
            elif isinstance(argument, np.ndarray):
                kinds.append(_noted(name, argument, numbers, taken, name in self._rows))
            else:
                kinds.append(None)
                numbers.append(int(argument) & (1 << 64) - 1)
        _check_apart(taken)
        key = tuple(kinds)
        code = self._variants.get(key)
        if code is None:
            with self._compiling:
                code = self._variants.get(key) or self._code_for(tuple(self._parameters(arguments)))
                self._variants[key] = code
        return code, array.array("Q", numbers)

    def _note_tuple(
        self, name: str, argument: Any, kinds: list[Any], numbers: list[int], taken: list[tuple[int, int, bool]]
    ) -> None:
        """What tells a named tuple's kind is added, and what stands of it in the table."""
        kinds.append(type(argument))
        for field, of_field in zip(argument._fields, argument, strict=True):
            if isinstance(of_field, tuple):
                self._note_tuple(name, of_field, kinds, numbers, taken)
            else:
                kinds.append(_noted(name, of_field, numbers, taken, field in self._rows))

    def is_compiled(self, constants: Sequence[int]) -> bool:
        """Whether it is there for these constants, in order: in this process, in the package, or in the user's cache.

        constants: values of the parameters that are its constants, in their order.
        """
        if any(list(constants) == [known for known in key if isinstance(known, int)] for key in self._variants):
            return True
        label = self._label(constants)
        if self._is_ours and has_shipped(self.function.__module__, label):
            return True
        folder = self._folder()
        return folder is not None and any(folder.glob(f"{label}-*.o"))

    def is_wanted_again(self, constants: Sequence[int]) -> bool:
        """Whether it was asked before, here or in another process, if it is wanted for these constants; it is noted.

        constants: values of the parameters that are its constants, in their order.
        """
        folder, label = self._folder(), f"wanted-{self._label(constants)}"
        if folder is None or is_kept(folder, label, "again", ".txt"):
            return folder is not None
        with contextlib.suppress(OutputError):
            keep(folder, label, "again", ".txt", lambda path: path.write_text(""))
        return False

    @property
    def _is_ours(self) -> bool:
        """Whether it is a function of this package, of which is known when its sources change."""
        return str(self.function.__module__).startswith("simtmm.")

    def _folder(self) -> Path | None:
        """Where it is stored; None where nothing could tell that its sources have changed."""
        return kept_folder(self.function.__module__) if self._is_ours else None

    def _label(self, constants: Sequence[int]) -> str:
        """What people who look into the cache see."""
        label = label_of(self.function.__name__, constants)
        return f"checked-{label}" if self._checked else label

    def _parameters(self, arguments: Sequence[Any]) -> Iterator[Parameter]:
        """Of each argument, what the function is compiled for."""
        entry = 1
        for name, argument in zip(self._names, arguments, strict=True):
            if name in self._constants:
                yield int(argument)
            elif isinstance(argument, tuple | np.ndarray):
                whole = self._whole(name, argument, entry)
                yield whole
                arrays = whole.arrays() if isinstance(whole, Struct) else [whole]
                entry += sum(1 + array.dimensions for array in arrays)
            else:
                yield SIGNED
                entry += 1

    def _whole(self, name: str, argument: Any, entry: int) -> Array | Records | Struct:
        """What is compiled of an array, or of a named tuple of them, which stands from an entry of the table on."""
        if not isinstance(argument, tuple):
            return _array(name, entry, argument, name in self._rows)
        fields: list[tuple[str, Array | Records | Struct]] = []
        for field, of_field in zip(argument._fields, argument, strict=True):  # type: ignore[attr-defined]
            fields.append((field, self._whole(field, of_field, entry)))
            of = fields[-1][1]
            entry += sum(1 + each.dimensions for each in (of.arrays() if isinstance(of, Struct) else [of]))
        return Struct(tuple(fields))

    def _code_for(self, parameters: tuple[Parameter, ...]) -> "_Code":
        from simtmm.native import machine_code  # late: LLVM takes a moment

        label = self._label([known for known in parameters if isinstance(known, int)])
        ready = shipped(self.function.__module__, label, parameters) if self._is_ours else None
        if ready is not None:
            return _Code(ready)
        folder = self._folder()
        circumstances = (*machine_code.circumstances(), str(self._checked), repr(parameters))
        key = hashlib.sha256("\0".join(circumstances).encode()).hexdigest()[:32]
        found = find(folder, label, key, ".o") if folder else None
        if found is not None:
            with contextlib.suppress(OSError):  # taken away meanwhile, say
                return _Code(found.read_bytes())
        with announced(self._what, USUAL.get(self._what, USUAL_OF_OTHERS)):
            code = self._compiled(parameters)
        if folder:
            with contextlib.suppress(OutputError):  # a full disk, say: it runs all the same
                keep(folder, label, key, ".o", lambda path: path.write_bytes(code))
        return _Code(code)

    def _compiled(self, parameters: tuple[Parameter, ...]) -> bytes:
        from simtmm.native import machine_code, program  # late: neither is needed for what is kept

        text = program.assembly(self.function, parameters, self._checked)
        return machine_code.object_code(text, machine_code.QUICK if self._checked else machine_code.FULL)


@dataclass(frozen=True)
class Bound:
    """A loop with its arguments, to be called as often as one likes, or by addresses for as long as this lives.

    entry: of its machine code. table: of its arguments.
    """

    entry: int
    table: int
    _table: "array.array[int]"
    _code: "_Code"
    _arguments: object
    _module: str

    def __call__(self) -> int:
        """Run the loop."""
        given: int = self._code.function(self.table)
        if self._table[0]:
            raise _out_of_bounds(self._module, self._table[0])
        return given

    @property
    def line(self) -> int:
        """What `checked` found in a call: the line of the index; 0 for nothing."""
        return int(self._table[0])


def _out_of_bounds(module: str, line: int) -> IndexError:
    return IndexError(f"{module}: line {line}: index out of bounds, or division by zero")


class _Code:
    """Object code that can be called."""

    def __init__(self, code: bytes) -> None:
        from simtmm.native.machine_code import ENTRY, loaded

        self._engine = loaded(code)
        self.address: int = self._engine.get_function_address(ENTRY)
        self.function: Callable[[int], int] = _CALLED(self.address)


def _noted(
    name: str, argument: Any, numbers: list[int], taken: list[tuple[int, int, bool]], in_rows: bool
) -> tuple[Any, int, int]:
    """What tells an array's kind; in_rows: its last extent, too. What stands of it in the table, and where it lies, are
    added to what is given.
    """
    flags, dtype, shape = argument.flags, argument.dtype, argument.shape
    if not flags.c_contiguous or not flags.aligned:
        raise ValueError(f"{name}: no C-contiguous array of integers, but {dtype}, of strides {argument.strides}")
    address = address_of(argument)
    numbers.append(address)
    numbers += shape
    taken.append((address, address + argument.nbytes, flags.writeable))
    return dtype, len(shape), shape[-1] if in_rows else 0


def _array(name: str, entry: int, array: Any, in_rows: bool) -> Array | Records:
    """What is compiled of an array."""
    if array.dtype.names is not None and array.ndim == 1:
        parts = tuple((field, _part(name, *array.dtype.fields[field][:2])) for field in array.dtype.names)
        return Records(name, entry, parts, array.dtype.itemsize)
    element = _ELEMENTS.get(array.dtype)
    if element is None:
        raise ValueError(f"{name}: no C-contiguous array of integers, but {array.dtype}")
    return Array(name, entry, element, array.ndim, array.shape[-1] if in_rows else None)


def _part(name: str, dtype: Any, offset: int) -> Part:
    """What is compiled of a field of records."""
    element = _ELEMENTS.get(dtype.base)
    if element is None or len(dtype.shape) > 1:
        raise ValueError(f"{name}: no records of integers, but with {dtype}")
    return Part(element, offset, dtype.shape[0] if dtype.shape else None)


def _check_apart(taken: list[tuple[int, int, bool]]) -> None:
    """Raise ValueError where an array that may be written to shares elements with another one."""
    end, written = 0, False
    for begin, stop, writeable in sorted(taken):
        if begin < end and begin < stop and (written or writeable):
            raise ValueError("an array that may be written to shares elements with another one")
        if stop > end:
            end, written = stop, writeable
        else:
            written = written or writeable
