"""Kernels of one instruction each, for every opcode and type, which two writings of PTX are compared on.

`every_case()` lists them. A runner takes a Case, lets its arrays (`fresh()`) stand at its addresses, runs "k" and
returns the arrays (`interpreted.interpreted` is that of the interpreter); `case.differences(expected, found)` tells
what differs.
"""

from functools import cache

from tests.cuda.cases import (
    comparison_cases,
    conversion_cases,
    float_cases,
    integer_cases,
    matrix_cases,
    memory_cases,
    warp_cases,
)
from tests.cuda.cases.case import Bound, Case, near

MODULES = (
    integer_cases, comparison_cases, float_cases, conversion_cases, warp_cases, memory_cases, matrix_cases,
)  # fmt: skip


@cache
def every_case() -> dict[str, Case]:
    """All cases by name."""
    found: dict[str, Case] = {}
    for module in MODULES:
        for case in module.cases():
            if case.name in found:
                raise ValueError(f"case {case.name} appears more than once")
            found[case.name] = case
    return found


__all__ = ["Bound", "Case", "every_case", "near"]
