"""A prefetch, which Numba has no name for: LLVM's own instruction."""

# Numba compiles these functions from the names of their arguments; annotations would only repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from typing import Any

import numba.extending
from llvmlite import ir

# Numba's own annotations do not know that an intrinsic's first parameter is not the caller's.
_intrinsic: Any = numba.extending.intrinsic


@_intrinsic
def prefetch(typing, array, index):
    """Have an element of an array, by its place in memory order, brought into the cache; changes nothing else."""

    def generate(context, builder, signature, arguments):
        byte = ir.IntType(8).as_pointer()
        number = ir.IntType(32)
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        place = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
        of_type = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [byte], of_type)
        builder.call(prefetch, [place, number(0), number(3), number(1)])  # to be read, into every cache, data
        return context.get_dummy_value()

    return numba.types.void(array, numba.types.int64), generate
