"""A file of device code, launched as the command line says."""

from collections.abc import Sequence
from pathlib import Path

from simtmm.errors import KernelError, shown
from simtmm.files import is_file
from simtmm.kernel import Kernel
from simtmm.recorder.compiled.launches_file import sizes_of
from simtmm.recorder.compiled.programs import LaunchText, program_kernel


def cuda_program(
    path: str | Path,
    grid: str | int | Sequence[int] | None,
    block: str | int | Sequence[int] | None,
    arguments: Sequence[str] = (),
    *,
    kernel: str | None = None,
    shared: int = 0,
    options: Sequence[str] = (),
) -> Kernel:
    """One launch of a kernel in a file (.cu, .ptx, .cubin).

    grid, block: one to three sizes, such as 64, "64x64" or (64, 64).
    arguments: NAME=VALUE, or VALUE in order (see simtmm.recorder.compiled.values).
    kernel: its name; the file's only one if left out.
    shared: dynamic shared memory [bytes].
    options: of the compiler.

    Raises KernelError.
    """
    path = Path(path)
    if grid is None or block is None:
        if not is_file(path):
            raise KernelError(f"{path}: there is no such file")
        missing = "--grid and --block" if grid is None and block is None else "--grid" if grid is None else "--block"
        raise KernelError(
            f"{path}: {missing}: how is it launched? Such as --grid 3907 --block 256 --arg n=1000000 "
            "--arg x=random:float32:1000000; or run a file of launches (.toml)"
        )
    given: dict[str, str] = {}
    for place, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        key = name.strip() if equals else f"#{place}"
        if equals and not key.isidentifier():
            raise KernelError(f"--arg {shown(argument)}: must be NAME=VALUE, or VALUE")
        if key in given:
            raise KernelError(f"--arg {shown(argument)}: {key} is given twice")
        given[key] = value.strip() if equals else name.strip()
    launch = LaunchText(kernel, _sizes(grid, "--grid"), _sizes(block, "--block"), given, shared, where=path.name)
    return program_kernel(path.stem, [path], [launch], options=options)


def _sizes(value: str | int | Sequence[int], where: str) -> tuple[int, ...]:
    return sizes_of(list(value) if isinstance(value, (tuple, list)) else value, where)
