"""The papers' algorithm that a program follows, with its symbols."""

from collections.abc import Mapping
from typing import Any

from simtmm.catalogue import named_kernel
from simtmm.errors import KernelError
from simtmm.kernel import Kernel, kernel_in


def followed(
    program: str, parameters: Mapping[str, Any], kernel: Kernel | None = None
) -> tuple[str, dict[str, float]] | None:
    """Its name and symbols; None where it follows none with these parameters, or is of a kernel that is not here.

    kernel: what was recorded; if left out, the one that has the program's name, if data can name it.
    """
    try:
        if kernel is None:
            folder = named_kernel(program)
            if folder is None:
                return None
            kernel = kernel_in(folder)
        return kernel.algorithm(kernel.resolve(parameters))
    except KernelError:
        return None
