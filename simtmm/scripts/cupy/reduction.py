"""cupy.ReductionKernel: a kernel of expressions that map elements, join two, and finish the result."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from simtmm.recorder.direct.raw_kernel import RawKernel
from simtmm.scripts.cupy.code import prelude
from simtmm.scripts.cupy.cuda.stream import get_current_stream
from simtmm.scripts.cupy.device_array import ndarray
from simtmm.scripts.cupy.elementwise import Argument
from simtmm.scripts.cupy.parameters import Types, checked_argument, decided, parse_parameters

BLOCK = 256


class ReductionKernel:
    """A reduction over axes; the arguments are those of CuPy's.

    A block reduces several elements of the output, each by as many threads as there is work for, a power of two.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - CuPy's own arguments
        self,
        in_params: str,
        out_params: str,
        map_expr: str,
        reduce_expr: str,
        post_map_expr: str,
        identity: Any,
        name: str = "reduce_kernel",
        reduce_type: str | None = None,
        reduce_dims: bool = True,
        preamble: str = "",
        options: Sequence[str] = (),
    ) -> None:
        if not name.isidentifier():
            raise ValueError(f'Invalid kernel name: "{name}"')
        self.in_params, self.out_params = parse_parameters(in_params), parse_parameters(out_params)
        if not self.out_params or len(self.out_params) > 1:
            raise ValueError("Only one output is supported by simtmm's ReductionKernel")
        self.map_expr, self.reduce_expr, self.post_map_expr = map_expr, reduce_expr, post_map_expr
        self.identity, self.name, self.reduce_type = identity, name, reduce_type
        self.preamble, self.options = preamble, tuple(options)
        self.nin, self.nout = len(self.in_params), 1
        self._kernels: dict[Any, RawKernel] = {}

    def __call__(
        self, *args: Any, out: Any = None, axis: Any = None, keepdims: bool = False, stream: Any = None
    ) -> Any:
        """Launch it; gives its output, allocated where it was not given."""
        given = [checked_argument(each) for each in args]
        if len(given) == self.nin + 1 and out is None:
            out = given.pop()
        if len(given) != self.nin:
            raise TypeError(f"Wrong number of arguments for {self.name}: {len(given)}: must be {self.nin}")
        wide = [
            each.shape
            for parameter, each in zip(self.in_params, given, strict=True)
            if not parameter.raw and isinstance(each, ndarray)
        ]
        if not wide:
            raise ValueError("Loop size is undecided.")
        shape = tuple(np.broadcast_shapes(*wide))
        axes = _axes(axis, len(shape))
        kept = tuple(number for number in range(len(shape)) if number not in axes)
        extents = tuple(shape[number] for number in kept)
        shown = tuple(1 if number in axes else size for number, size in enumerate(shape)) if keepdims else extents
        types = decided(self.in_params, self.out_params, given, [] if out is None else [out])
        length = int(np.prod([shape[number] for number in axes], dtype=np.int64))
        if not length and self.identity in (None, ""):
            raise ValueError(f"zero-size array to reduction operation {self.name} which has no identity")
        result = np.empty(shown, types.outputs[0]).view(ndarray) if out is None else out
        if result.shape != shown:
            raise ValueError("Output shape is mismatched")
        if result.size:
            place = result if result.flags.c_contiguous else np.empty(shown, result.dtype).view(ndarray)
            spread = [
                each if parameter.raw or not isinstance(each, np.ndarray)
                else np.broadcast_to(each.view(np.ndarray), shape).transpose(kept + axes)
                for parameter, each in zip(self.in_params, given, strict=True)
            ]  # fmt: skip
            self._launch(types, spread, place, int(result.size), length, stream)
            if place is not result:
                result[...] = place
        return result

    def _launch(self, types: Types, ins: Sequence[Any], result: Any, outputs: int, length: int, stream: Any) -> None:
        arguments = [
            Argument(parameter, dtype, each, False)
            for parameter, dtype, each in zip(self.in_params, types.inputs, ins, strict=True)
        ]
        last = Argument(self.out_params[0], types.outputs[0], result.reshape(-1), True)
        along = min(BLOCK, 1 << max(0, length - 1).bit_length())  # threads that reduce one element
        along = along if length > BLOCK // 8 or outputs < BLOCK else 1
        key = (along, tuple(types.placeholders.items()), *(each.key for each in [*arguments, last]))
        if key not in self._kernels:
            self._kernels[key] = RawKernel(self._code(types, arguments, last, along), self.name, options=self.options)
        values = [value for each in [*arguments, last] for value in each.values()]
        put = get_current_stream() if stream is None else stream
        blocks = -(-outputs // (BLOCK // along))
        self._kernels[key]((blocks,), (BLOCK,), (*values, outputs, length), stream=getattr(put, "ptr", put))

    def _code(self, types: Types, arguments: Sequence[Argument], last: Argument, along: int) -> str:
        declared = ", ".join(
            [*(each for a in [*arguments, last] for each in a.declarations()), "long long _outputs, long long _length"]
        )
        reduced = self.reduce_type or last.type
        start = "" if self.identity is None else str(self.identity)
        head = (
            f"{types.typedefs()}{self.preamble}\ntypedef {reduced} type_reduce_;\ntypedef {reduced} _type_reduce;\n"
            f"#define REDUCE(a, b) ({self.reduce_expr})\n#define POST_MAP(a) ({self.post_map_expr})\n"
        )
        first = "_s = _a, _any = true" if not start else "_s = REDUCE(_s, _a)"
        step = "if (_any) { _s = REDUCE(_s, _a); } else { _s = _a; _any = true; }" if not start else f"{first};"
        fold = (
            "  __shared__ type_reduce_ _all[BLOCK_];\n  __shared__ bool _some[BLOCK_];\n"
            "  _all[threadIdx.x] = _s;\n  _some[threadIdx.x] = _any;\n  __syncthreads();\n"
            "  for (int _step = ALONG_ / 2; _step > 0; _step /= 2) {\n"
            "    if (_t < _step && _some[threadIdx.x + _step]) {\n"
            "      const type_reduce_ _a = _all[threadIdx.x], _b = _all[threadIdx.x + _step];\n"
            "      _all[threadIdx.x] = _some[threadIdx.x] ? static_cast<type_reduce_>(REDUCE(_a, _b)) : _b;\n"
            "      _some[threadIdx.x] = true;\n"
            "    }\n    __syncthreads();\n  }\n  _s = _all[threadIdx.x];\n"
        )
        code = (
            f"__global__ void {self.name}({declared}) {{\n"
            f"  const int _t = threadIdx.x % ALONG_;\n"
            "  const long long _i = (long long)blockIdx.x * (BLOCK_ / ALONG_) + threadIdx.x / ALONG_;\n"
            "  CIndexer<1> _in_ind = {_outputs * _length}, _out_ind = {_outputs};\n"
            f"{''.join(each.first() for each in [*arguments, last])}  {{\n"
            f"{''.join(each.before() for each in arguments)}"
            f"  type_reduce_ _s = type_reduce_({start});\n  bool _any = {'true' if start else 'false'};\n"
            "  for (long long _k = _t; _i < _outputs && _k < _length; _k += ALONG_) {\n"
            "    const long long _j = _i * _length + _k, _J = _k;\n    _in_ind.set(_j);\n"
            f"{''.join(each.within('_j') for each in arguments)}"
            f"    const type_reduce_ _a = static_cast<type_reduce_>({self.map_expr});\n    {step}\n  }}\n"
            f"{fold if along > 1 else ''}"
            "  if (_t == 0 && _i < _outputs) {\n    _out_ind.set(_i);\n"
            f"{last.within('_i')}    POST_MAP(_s);\n  }}\n  }}\n}}\n"
        )
        code = code.replace("ALONG_", str(along)).replace("BLOCK_", str(BLOCK))
        return prelude([head, code], head) + code


def _axes(axis: Any, axes: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(axes))
    given = axis if isinstance(axis, tuple) else (axis,)
    return tuple(sorted({int(np.lib.array_utils.normalize_axis_index(int(each), axes)) for each in given}))
