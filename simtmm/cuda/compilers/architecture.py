"""Which architecture a machine's kernels are compiled for."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from simtmm.children.start import run
from simtmm.cuda.compilers.kept import kept
from simtmm.cuda.compilers.nvrtc import nvrtc
from simtmm.cuda.compilers.wheels import find_nvcc, find_nvrtc, stamp
from simtmm.errors import CompilerError

if TYPE_CHECKING:
    from simtmm.machine import Machine

OF_TODAY = 90  # for machines of other makers: Hopper, what most CUDA code is tuned for now
_WITH_MORE = (90,)  # architectures of which some instructions are of no later machine: wgmma, setmaxnreg


@dataclass(frozen=True)
class Architecture:
    """What is compiled for.

    number: compute capability times ten: 90 for sm_90.
    note: a sentence for reports where it is not the machine's own; None where it is.
    """

    number: int
    note: str | None = None


def architecture_of(machine: "Machine") -> Architecture:
    """The machine's own architecture where the compiler knows it, else the nearest that it knows.

    That is the latest before the machine's own, whose code it could run; the oldest for a machine older than all; and
    `OF_TODAY` for a machine without a compute capability.

    Raises CompilerError where there is no compiler.
    """
    known = supported_architectures()
    if machine.compute_capability is None:
        number = _nearest(OF_TODAY, known)
        return Architecture(number, f"Compiled for sm_{number}: {machine.name} has no compute capability of its own.")
    major, _, minor = machine.compute_capability.partition(".")
    own = 10 * int(major) + int(minor)
    number = _nearest(own, known)
    if number == own:
        return Architecture(number)
    return Architecture(
        number,
        f"Compiled for sm_{number}, the nearest that the compiler knows to {machine.name}'s compute capability "
        f"{machine.compute_capability}.",
    )


def architecture_of_today() -> int:
    """What is compiled for by default: compute capability times ten. Raises CompilerError."""
    return _nearest(OF_TODAY, supported_architectures())


def target_of(architecture: int, is_of_one: bool) -> str:
    """What compilers call a compute capability, times ten: 90a, where sources name what that machine alone has.

    architecture: compute capability times ten.
    is_of_one: whether sources name what that machine alone has.
    """
    return f"{architecture}a" if is_of_one and architecture in _WITH_MORE else str(architecture)


def supported_architectures() -> tuple[int, ...]:
    """Compute capabilities, times ten, that the compiler knows, in order. Raises CompilerError where there is none."""
    try:
        library = find_nvrtc()
    except CompilerError:
        return _known_to_nvcc(find_nvcc())
    return _known_to(library)


@cache
def _known_to_nvcc(nvcc: Path) -> tuple[int, ...]:
    output = run([str(nvcc), "--list-gpu-arch"]).text
    found = {word.removeprefix("compute_") for word in output.split()}
    return tuple(sorted(int(word) for word in found if word.isdigit()))


@cache
def _known_to(library: Path) -> tuple[int, ...]:
    """What a library says that it knows: each build of one is asked once, as that takes a process."""
    found = kept(
        "architectures", ["architectures", stamp(library)], lambda: {"known": list(nvrtc(library).architectures())}
    )
    return tuple(found["known"])


def _nearest(own: int, known: tuple[int, ...]) -> int:
    if not known:
        raise CompilerError("the compiler names no architecture that it compiles for")
    return max((number for number in known if number <= own), default=known[0])
