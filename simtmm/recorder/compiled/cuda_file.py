"""A file of device code, launched as the command line says."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from simtmm.errors import KernelError, shown
from simtmm.files import is_file, why_no_file
from simtmm.kernel import Kernel
from simtmm.recorder.compiled.programs import Given, LaunchText, program_kernel
from simtmm.recorder.compiled.sizes import sizes_of


def cuda_program(
    path: str | Path,
    grid: str | int | Sequence[int] | None,
    block: str | int | Sequence[int] | None,
    arguments: Sequence[str] | Mapping[str, object] = (),
    *,
    kernel: str | None = None,
    shared: int = 0,
    options: Sequence[str] = (),
) -> Kernel:
    """One launch of a kernel in a file (.cu, .ptx, .cubin).

    grid, block: one to three sizes, such as 64, "64x64" or (64, 64).
    arguments: NAME=VALUE, or VALUE in order (see simtmm.recorder.compiled.values); or by name such a text, a number or
        an array of NumPy's, which is copied.
    kernel: its name; the file's only one if left out.
    shared: dynamic shared memory [bytes].
    options: of the compiler.

    Raises KernelError.
    """
    path = Path(path)
    if grid is None or block is None:
        if not is_file(path):
            raise KernelError(f"{path}: {why_no_file(path)}")
        missing = "--grid and --block" if grid is None and block is None else "--grid" if grid is None else "--block"
        raise KernelError(
            f"{path}: {missing}: required, for example --grid 3907 --block 256 --arg n=1000000 "
            "--arg x=random:float32:1000000; or use a file of launches (.toml)"
        )
    given = _by_name(arguments) if isinstance(arguments, Mapping) else _of_words(arguments)
    launch = LaunchText(kernel, _sizes(grid, "--grid"), _sizes(block, "--block"), given, shared, where=path.name)
    return program_kernel(path.stem, [path], [launch], options=options)


def _by_name(arguments: Mapping[str, object]) -> dict[str, Given]:
    """Arguments by name, from Python. Raises KernelError for what no launch takes."""
    given: dict[str, Given] = {}
    for name, value in arguments.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise KernelError(f"args: {shown(name)}: must be the name of a kernel parameter")
        number = value.item() if isinstance(value, np.generic) else value
        if not isinstance(number, (str, int, float, np.ndarray)) or (
            isinstance(number, np.ndarray) and number.dtype.hasobject
        ):
            raise KernelError(
                f"args: {name} = {shown(value)}: must be a number, a text such as random:float32:64, or an array"
            )
        given[name] = number
    return given


def _of_words(arguments: Sequence[str]) -> dict[str, Given]:
    given: dict[str, Given] = {}
    for place, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        key = name.strip() if equals else f"#{place}"
        if equals and not key.isidentifier():
            raise KernelError(f"--arg {shown(argument)}: must be NAME=VALUE, or VALUE")
        if key in given:
            raise KernelError(f"--arg {shown(argument)}: {key} is given twice")
        given[key] = value.strip() if equals else name.strip()
    return given


def _sizes(value: str | int | Sequence[int], where: str) -> tuple[int, ...]:
    return sizes_of(list(value) if isinstance(value, (tuple, list)) else value, where)
