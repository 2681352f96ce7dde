"""Loops over arrays, written in a small part of Python, as machine code; LLVM compiles them in seconds.

What is translated: functions of integers of 64 bits, truths, and C-contiguous arrays of integers or of records, with
`if`, `while`, `for` over a range, arithmetic, comparisons, `min`, `max` and calls of other such functions, none of them
recursive, which may return several values, or of loops that are bound to their arguments. Arrays that the source names
are constants; columns of rows have names (`Columns`). A loop over a range may be `vectorized`. Anything else is refused
when it is translated, with its line. Integers wrap around; an index counts from 0 on and must be in its array, which
`checked` looks after, for tests; arrays that are written to share no element with another one. A function stays one of
Python as well.

    values                  what names stand for
    columns                 names for the columns of rows
    elements, operations    names and arrays; arithmetic and conditions
    expressions, statements calls; assignments, branches and loops: a whole function
    written                 functions whose text another part of simtmm wrote
    program                 all functions of a loop
    machine_code            LLVM
    loop                    a loop that is compiled when it is first called, and kept
    as_python               the same as Python
    hash_tables             what loops over these have in common
"""

from typing import Any

from simtmm.native.as_python import as_python
from simtmm.native.columns import Columns, Rows
from simtmm.native.expressions import (
    acquire,
    bits_equal,
    call_bound,
    difference_overflows,
    exchange,
    prefetch,
    product_overflows,
    release,
    sum_overflows,
    trailing_zeros,
)
from simtmm.native.hash_tables import SPREAD
from simtmm.native.loop import Bound, Loop
from simtmm.native.statements import vectorized
from simtmm.native.values import TranslationError
from simtmm.native.written import Written

__all__ = [
    "SPREAD", "Bound", "Columns", "Loop", "Rows", "TranslationError", "Written", "acquire", "as_python", "bits_equal",
    "call_bound", "difference_overflows", "exchange", "inlined", "prefetch", "product_overflows", "release",
    "sum_overflows", "trailing_zeros", "vectorized",
]  # fmt: skip


def inlined(function: Any) -> Any:
    """A function that LLVM puts into its callers.

    function: a function of the small part of Python that is compiled.
    """
    function.is_inlined = True
    return function
