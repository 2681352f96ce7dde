"""cupy.ElementwiseKernel: a kernel of an expression for one element."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from simtmm.launch import MOST_BLOCKS
from simtmm.recorder.direct.raw_kernel import RawKernel
from simtmm.scripts.cupy.code import name_of, prelude
from simtmm.scripts.cupy.cuda.stream import get_current_stream
from simtmm.scripts.cupy.device_array import ndarray
from simtmm.scripts.cupy.parameters import Dtype, Parameter, Types, checked_argument, decided, parse_parameters

BLOCK = 128


class Argument:
    """A parameter with what a call gives it: its declaration in the kernel, and the values that are passed.

    operand: an array, as wide as the loop unless the parameter is raw, or a number.
    """

    def __init__(self, parameter: Parameter, dtype: Dtype, operand: Any, is_output: bool) -> None:
        self.parameter, self.type, self.is_output = parameter, name_of(dtype), is_output
        self.is_array = isinstance(operand, np.ndarray)
        self.operand = operand if self.is_array else dtype.type(operand)
        if not self.is_array and dtype.kind == "b":
            self.operand = np.uint8(bool(operand))
        if not self.is_array and dtype.char in "eFD":
            self.operand = dtype.type(operand).tobytes()
        self.axes = operand.ndim if self.is_array else 0
        self.is_contiguous = self.is_array and bool(operand.flags.c_contiguous)

    @property
    def _is_strided(self) -> bool:
        return self.is_array and (self.parameter.raw or not self.is_contiguous)

    @property
    def _element(self) -> str:
        """Code may write to what it indexes itself, and to outputs."""
        return self.type if self.is_output or self.parameter.raw else f"const {self.type}"

    def declarations(self) -> list[str]:
        """Parameters of the kernel."""
        name = self.parameter.name
        if not self.is_array:
            return [f"{self.type} _s_{name}"]
        numbers = [f"long long _{name}_shape{axis}, long long _{name}_stride{axis}" for axis in range(self.axes)]
        return [f"{self._element}* {name}", *(numbers if self._is_strided else [])]

    def values(self) -> list[Any]:
        """What is passed for them."""
        if not self.is_array:
            return [self.operand]
        pairs = zip(self.operand.shape, self.operand.strides, strict=True)
        numbers = [int(each) for pair in pairs for each in pair]
        return [self.operand, *(numbers if self._is_strided else [])]

    def first(self) -> str:
        """What stands at the kernel's beginning: the pointer by a name that no element hides."""
        name = self.parameter.name
        return f"  {self._element}* const _p_{name} = {name};\n" if self.is_array else ""

    def before(self) -> str:
        """What stands before the loop: the array that the code indexes."""
        name = self.parameter.name
        if not self.is_array:
            return f"  const {self.type} _v_{name} = _s_{name};\n" + (
                f"  const {self.type} {name} = _s_{name};\n" if self.parameter.raw else ""
            )
        if not self._is_strided:
            return ""
        sizes = ", ".join(f"_{name}_shape{axis}" for axis in range(self.axes)) or "1"
        steps = ", ".join(f"_{name}_stride{axis}" for axis in range(self.axes)) or "0"
        whole = " * ".join(f"_{name}_shape{axis}" for axis in range(self.axes)) or "1"
        array = name if self.parameter.raw else f"_a_{name}"
        flat = "true" if self.is_contiguous else "false"
        return (
            f"  const CArray<{self._element}, {self.axes}> {array} = "
            f"{{_p_{name}, {whole}, {flat}, {{{sizes}}}, {{{steps}}}}};\n"
        )

    def within(self, index: str) -> str:
        """What stands at the head of the loop's body: the element."""
        name = self.parameter.name
        if self.parameter.raw:
            return ""
        if not self.is_array:
            return f"    const {self.type} {name} = _v_{name};\n"
        element = f"_a_{name}[{index}]" if self._is_strided else f"_p_{name}[{index}]"
        return (
            f"    {self.type}& {name} = {element};\n"
            if self.is_output
            else f"    const {self.type} {name} = {element};\n"
        )

    @property
    def key(self) -> tuple[Any, ...]:
        """What the code depends on."""
        return self.type, self.is_array, self.axes if self._is_strided else 0, self.is_contiguous


class ElementwiseKernel:
    """A kernel for each element of arrays that are broadcast together; the arguments are those of CuPy's."""

    def __init__(  # noqa: PLR0913, PLR0917 - CuPy's own arguments
        self,
        in_params: str,
        out_params: str,
        operation: str,
        name: str = "kernel",
        reduce_dims: bool = True,
        preamble: str = "",
        no_return: bool = False,
        return_tuple: bool = False,
        doc: str = "",
        *,
        loop_prep: str = "",
        after_loop: str = "",
        options: Sequence[str] = (),
    ) -> None:
        if not name.isidentifier():
            raise ValueError(f'Invalid kernel name: "{name}"')
        self.in_params, self.out_params = parse_parameters(in_params), parse_parameters(out_params)
        self.params = self.in_params + self.out_params
        if len({parameter.name for parameter in self.params}) < len(self.params):
            raise ValueError("Kernel parameters have duplicate names")
        self.nin, self.nout, self.nargs = len(self.in_params), len(self.out_params), len(self.params)
        self.operation, self.name, self.preamble, self.__doc__ = operation, name, preamble, doc
        self.reduce_dims, self.no_return, self.return_tuple = reduce_dims, no_return, return_tuple
        self.loop_prep, self.after_loop, self.options = loop_prep, after_loop, tuple(options)
        self._kernels: dict[Any, RawKernel] = {}

    def __call__(
        self, *args: Any, size: int | None = None, stream: Any = None, block_size: int = BLOCK, out: Any = None
    ) -> Any:
        """Launch it; gives its outputs, allocated where they were not given."""
        given = [checked_argument(each) for each in args]
        if len(given) not in (self.nin, self.nargs):
            raise TypeError(
                f"Wrong number of arguments for {self.name}: {len(given)}: must be {self.nin} or {self.nargs}"
            )
        ins, results = given[: self.nin], given[self.nin :]
        if out is not None and not results:
            results = list(out) if isinstance(out, tuple) else [out]
        for each in results:
            if not isinstance(each, ndarray):
                raise TypeError("Output arguments type must be cupy.ndarray")
        types = decided(self.in_params, self.out_params, ins, results)
        shape = self._shape(ins, results, size)
        if not results:
            if size is None and any(parameter.raw for parameter in self.out_params):
                raise ValueError("Output array size is Undecided")
            results = [np.empty(shape, dtype).view(ndarray) for dtype in types.outputs]
        elements = int(np.prod(shape, dtype=np.int64))
        if elements:
            self._launch(types, ins, results, shape, elements, block_size, stream)
        if self.no_return:
            return None
        return results[0] if len(results) == 1 and not self.return_tuple else tuple(results)

    def _shape(self, ins: Sequence[Any], results: Sequence[Any], size: int | None) -> tuple[int, ...]:
        """What the loop goes over."""
        wide = [
            each.shape
            for parameter, each in zip(self.params, [*ins, *results], strict=False)
            if not parameter.raw and isinstance(each, ndarray)
        ]
        if size is not None:
            if wide:
                raise ValueError("Specified 'size' can be used only if all of the ndarray are 'raw'.")
            return (int(size),)
        if not wide:
            if any(parameter.raw for parameter in self.params):
                raise ValueError("Loop size is undecided.")
            return ()
        shape = np.broadcast_shapes(*wide)
        for parameter, each in zip(self.out_params, results, strict=False):
            if not parameter.raw and each.shape != shape:
                raise ValueError("Out shape is mismatched")
        return tuple(shape)

    def _launch(
        self,
        types: Types,
        ins: Sequence[Any],
        results: Sequence[Any],
        shape: tuple[int, ...],
        elements: int,
        block: int,
        stream: Any,
    ) -> None:
        arguments = [
            Argument(parameter, dtype, _spread(parameter, each, shape), is_output)
            for is_output, triples in (
                (False, zip(self.in_params, types.inputs, ins, strict=True)),
                (True, zip(self.out_params, types.outputs, results, strict=True)),
            )
            for parameter, dtype, each in triples
        ]
        axes = self._axes(shape, arguments)
        key = (len(axes), tuple(types.placeholders.items()), *(argument.key for argument in arguments))
        if key not in self._kernels:
            self._kernels[key] = RawKernel(self._code(types, arguments, len(axes)), self.name, options=self.options)
        values = [value for argument in arguments for value in argument.values()]
        put = get_current_stream() if stream is None else stream
        blocks = min(MOST_BLOCKS, -(-elements // block))
        self._kernels[key]((blocks,), (block,), (*values, *axes, elements), stream=getattr(put, "ptr", put))

    def _axes(self, shape: tuple[int, ...], arguments: Sequence[Argument]) -> tuple[int, ...]:
        """The lengths of the axes that the code may ask `_ind` for an element's place on; none where one will do."""
        if len(shape) < 2 or not re.search(r"\b_ind\s*\.\s*(get|shape|ndim)\b", self.operation + self.loop_prep):
            return ()
        if not self.reduce_dims:
            return shape
        found = merged(shape, [each.operand.strides for each in arguments if each.is_array and not each.parameter.raw])
        return found if len(found) > 1 else ()

    def _code(self, types: Types, arguments: Sequence[Argument], axes: int) -> str:
        lengths = [f"_loop_shape{axis}" for axis in range(axes)]
        declared = ", ".join(
            [
                *(each for argument in arguments for each in argument.declarations()),
                *(f"long long {each}" for each in [*lengths, "_n_of_loop"]),
            ]
        )
        head = types.typedefs()
        code = (
            f"__global__ void {self.name}({declared}) {{\n"
            f"  CIndexer<{max(1, axes)}> _ind = {{_n_of_loop, {{{', '.join(lengths)}}}}};\n"
            "  const long long n = _n_of_loop;\n"
            f"{''.join(argument.first() for argument in arguments)}  {{\n"
            f"{''.join(argument.before() for argument in arguments)}  {self.loop_prep};\n"
            "  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n;\n"
            "       i += (long long)gridDim.x * blockDim.x) {\n"
            "    _ind.set(i);\n"
            f"{''.join(argument.within('i') for argument in arguments)}    {self.operation};\n"
            f"  }}\n  {self.after_loop};\n  }}\n}}\n"
        )
        return prelude([head, code, self.preamble], head + self.preamble) + code


def merged(shape: Sequence[int], strides: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """The lengths of axes where each that lies, in all arrays, in steps as long as the next axis is one with that.

    strides: of each array, an axis each.
    """
    lengths: list[int] = []
    last: list[int] = []
    for axis, length in enumerate(shape):
        steps = [each[axis] for each in strides]
        if length == 1:
            continue
        if lengths and all(before == length * step for before, step in zip(last, steps, strict=True)):
            lengths[-1] *= length
        else:
            lengths.append(length)
        last = steps
    return tuple(lengths)


def _spread(parameter: Parameter, value: Any, shape: tuple[int, ...]) -> Any:
    """An argument as wide as the loop."""
    if parameter.raw or not isinstance(value, np.ndarray):
        return value
    return value if value.shape == shape else np.broadcast_to(value.view(np.ndarray), shape)
