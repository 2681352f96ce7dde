"""cupy.fuse: a function of arrays, traced once for each choice of types, as one kernel."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from simtmm.scripts import notes
from simtmm.scripts.cupy.code import name_of
from simtmm.scripts.cupy.device_array import ndarray
from simtmm.scripts.cupy.elementwise import ElementwiseKernel
from simtmm.scripts.cupy.ufuncs import loop_types, statement


class _NotFusedError(Exception):
    """The function does what is no chain of elementwise operations."""


class _Traced(np.lib.mixins.NDArrayOperatorsMixin):
    """A value of the function: its name in the kernel and its type; a type of Python's for a number that adapts."""

    def __init__(self, trace: "_Trace", name: str, dtype: Any) -> None:
        self.trace, self.name, self.type = trace, name, dtype

    @property
    def dtype(self) -> Any:
        """Its type."""
        return np.dtype(self.type)

    def astype(self, dtype: Any, **options: Any) -> "_Traced":
        """Converted."""
        to = np.dtype(dtype)
        return self.trace.add(f"const {name_of(to)} {{}} = static_cast<{name_of(to)}>({self.name});", to)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or ufunc.nout != 1 or options:
            raise _NotFusedError(f"{ufunc.__name__} with options")
        values = [self.trace.value(each) for each in inputs]
        loop = loop_types(ufunc, [each.type for each in values])
        code = loop and statement(
            ufunc.__name__, loop, [each.name for each in values], "{}", f"{name_of(loop[-1])} {{}}; "
        )
        if not code or not loop:
            raise _NotFusedError(ufunc.__name__)
        return self.trace.add(code.replace("{ ", "{{ ").replace("; }", "; }}"), loop[-1])

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        if function is np.where and len(arguments) == 3 and not options:
            condition, *values = (self.trace.value(each) for each in arguments)
            dtype = np.result_type(*(np.dtype(each.type) for each in values))
            of = name_of(dtype)
            text = f"{condition.name} ? static_cast<{of}>({values[0].name}) : static_cast<{of}>({values[1].name})"
            return self.trace.add(f"const {of} {{}} = {text};", dtype)
        raise _NotFusedError(function.__name__)

    def __bool__(self) -> bool:
        raise _NotFusedError("a branch by the value of an element")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise _NotFusedError(name)

    def __getitem__(self, key: Any) -> Any:
        raise _NotFusedError("an index")

    def __iter__(self) -> Any:
        raise _NotFusedError("a loop over elements")


class _Trace:
    """The statements so far."""

    def __init__(self) -> None:
        self.code: list[str] = []

    def add(self, text: str, dtype: Any) -> _Traced:
        """One more, which defines a value."""
        name = f"v{len(self.code)}_"
        self.code.append(
            text.replace("{{", "\1").replace("}}", "\2").replace("{}", name).replace("\1", "{").replace("\2", "}")
        )
        return _Traced(self, name, dtype)

    def value(self, value: Any) -> _Traced:
        """An operand."""
        if isinstance(value, _Traced):
            return value
        if isinstance(value, bool):
            return _Traced(self, f"({value!r})".lower(), np.dtype(bool))
        if isinstance(value, (int, float)):
            text = repr(value) if np.isfinite(value) else f"{np.sign(value):g}/0.0".replace("nan", "0.0")
            return _Traced(self, f"({text})", type(value))
        if isinstance(value, np.generic) and value.dtype.char in "?bBhHiIlLqQfd" and np.isfinite(value):
            return _Traced(self, f"({value.item()!r})".replace("True", "true").replace("False", "false"), value.dtype)
        raise _NotFusedError(f"a value of type {type(value).__name__}")


class Fusion:
    """A function that is to be one kernel."""

    def __init__(self, function: Callable[..., Any], name: str | None) -> None:
        functools.update_wrapper(self, function)
        self._function, self._name = function, str(name or getattr(function, "__name__", "fused"))
        self._kernels: dict[Any, tuple[ElementwiseKernel, bool] | None] = {}

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Launch it; or call the plain function, if it is not a chain of elementwise operations."""
        plain = not options and all(isinstance(each, (ndarray, bool, int, float, np.generic)) for each in arguments)
        if not plain or not any(isinstance(each, ndarray) for each in arguments):
            return self._function(*arguments, **options)
        key = tuple(each.dtype if isinstance(each, (np.ndarray, np.generic)) else type(each) for each in arguments)
        if key not in self._kernels:
            self._kernels[key] = self._fused(key)
        compiled = self._kernels[key]
        if compiled is None:
            return self._function(*arguments)
        found = compiled[0](*arguments)
        return found if compiled[1] or not isinstance(found, tuple) else found[0]

    def _fused(self, types: tuple[Any, ...]) -> tuple[ElementwiseKernel, bool] | None:
        trace = _Trace()
        try:
            found = self._function(*(_Traced(trace, f"in{number}", each) for number, each in enumerate(types)))
            results = [trace.value(each) for each in (found if isinstance(found, tuple) else (found,))]
        except _NotFusedError as why:
            notes.note(
                f"cupy.fuse: {self._name} is not a chain of elementwise operations ({why}): it ran step by step."
            )
            return None
        ins = ", ".join(f"{np.dtype(each).name} in{number}" for number, each in enumerate(types))
        outs = ", ".join(f"{each.dtype.name} out{number}" for number, each in enumerate(results))
        last = " ".join(f"out{number} = {each.name};" for number, each in enumerate(results))
        name = self._name if self._name.isidentifier() else "fused"
        return ElementwiseKernel(ins, outs, "\n    ".join([*trace.code, last]), name), isinstance(found, tuple)


def fuse(*arguments: Any, kernel_name: str | None = None) -> Any:
    """A function of arrays as one kernel: `@cupy.fuse`, `@cupy.fuse()` or `cupy.fuse(function)`."""
    if arguments and callable(arguments[0]):
        return Fusion(arguments[0], kernel_name)
    return lambda function: Fusion(function, kernel_name)
