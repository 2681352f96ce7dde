"""Options that child processes inherit: where names are looked up, and the limits of kernels."""

import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from simtmm.errors import KernelError, MachineError
from simtmm.files import KERNEL_MEMORY, KERNEL_PATH, KERNEL_TIMEOUT, MACHINE_PATH, is_folder


def _put_first(variable: str, folders: list[Path] | None) -> list[Path] | None:
    """Put these folders before those that the environment variable names."""
    if folders:
        named = [str(folder.resolve()) for folder in folders]
        os.environ[variable] = os.pathsep.join([*named, os.environ.get(variable, "")])
    return folders


def _search_kernels(folders: list[Path] | None) -> list[Path] | None:
    for folder in folders or []:
        if not is_folder(folder):
            raise KernelError(f"--kernel-path {folder}: no such folder")
        try:
            is_kernel = (folder / "kernel.cu").is_file()
            next(folder.iterdir(), None)
        except OSError as error:
            raise KernelError(f"--kernel-path {folder}: can't be read ({error.strerror})") from None
        if is_kernel:
            raise KernelError(f"--kernel-path {folder}: is a kernel itself; give its parent folder")
    return _put_first(KERNEL_PATH, folders)


def _search_machines(folders: list[Path] | None) -> list[Path] | None:
    for folder in folders or []:
        if not is_folder(folder):
            raise MachineError(f"--machine-path {folder}: no such folder")
    return _put_first(MACHINE_PATH, folders)


def _limit_time(seconds: float | None) -> float | None:
    if seconds is not None:
        if not 0 < seconds < math.inf:
            raise KernelError(f"--kernel-timeout {seconds:g}: must be a number of seconds above 0")
        os.environ[KERNEL_TIMEOUT] = str(seconds)
    return seconds


def _limit_memory(most: int | None) -> int | None:
    if most is not None:
        os.environ[KERNEL_MEMORY] = str(most)
    return most


KernelPathOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--kernel-path",
        metavar="FOLDER",
        callback=_search_kernels,
        help=f"look up kernels in this folder first (see also {KERNEL_PATH}); repeatable",
    ),
]
MachinePathOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--machine-path",
        metavar="FOLDER",
        callback=_search_machines,
        help=f"look up machines in this folder first (see also {MACHINE_PATH}); repeatable",
    ),
]
KernelTimeoutOption = Annotated[
    float | None,
    typer.Option(
        "--kernel-timeout",
        metavar="SECONDS",
        callback=_limit_time,
        help=f"end a kernel that makes no progress for this long; default: 60 (see also {KERNEL_TIMEOUT})",
    ),
]
KernelMemoryOption = Annotated[
    int | None,
    typer.Option(
        "--kernel-memory",
        metavar="BYTES",
        min=1,
        callback=_limit_memory,
        help=f"end a kernel that uses more memory of its own; default: half of what is free (see also {KERNEL_MEMORY})",
    ),
]


@dataclass(frozen=True, kw_only=True)
class EnvironmentOptions:
    """Options of commands that may record a kernel. Their callbacks put them into the environment: none is read."""

    kernel_path: KernelPathOption = None
    machine_path: MachinePathOption = None
    kernel_timeout: KernelTimeoutOption = None
    kernel_memory: KernelMemoryOption = None
