"""Kernels run every way, and what became of each."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from simtmm.cuda.function import KernelFunction
from simtmm.errors import SimtmmError
from tests.cuda.whole.device import as_machine_code, as_ptx, compiled, run_on_device
from tests.cuda.whole.host import HostError, run_on_host
from tests.cuda.whole.kernels import Kernel
from tests.fuzz.bounds import bounded

PTX, MACHINE_CODE = "PTX", "machine code"
# How a kernel ended that way. INVALID: it is no kernel, so that the grammar is wrong
EQUAL, DIFFERENT, FAILED, REFUSED, INVALID = "equal", "different", "failed", "run as PTX", "invalid"
_OWN = re.compile(r"\b(?:UR|UP|R|P|B|SB)\d+\b|\b0x[0-9a-f]+\b|\bk\d+\b|\b\d+\b")


@dataclass(frozen=True)
class Outcome:
    """What became of a kernel, run one way for one architecture. why: in words, where it is not equal."""

    kernel: Kernel
    way: str
    architecture: int
    ended: str
    why: str = ""

    @property
    def is_wrong(self) -> bool:
        return self.ended in (DIFFERENT, FAILED, INVALID)

    @property
    def cause(self) -> str:
        """Why, without what is of this kernel alone."""
        return _OWN.sub("_", self.why)

    def __str__(self) -> str:
        return f"kernel {self.kernel.seed}, {self.way} for sm_{self.architecture}: {self.ended} {self.why}".rstrip()


def outcomes(
    kernels: Sequence[Kernel], architectures: Sequence[int], ways: Sequence[str] = (PTX, MACHINE_CODE)
) -> list[Outcome]:
    """What becomes of each kernel, for each architecture."""
    found = []
    expected = _each(kernels, run_on_host, HostError)
    sound = [kernel for kernel in kernels if not isinstance(expected[kernel.seed], Exception)]
    found += [Outcome(each, "C++", 0, INVALID, str(expected[each.seed])) for each in kernels if each not in sound]
    for architecture in architectures:

        def compiled_each(some: Sequence[Kernel], architecture: int = architecture):
            alike: dict[tuple[str, ...], list[Kernel]] = {}
            for each in some:
                alike.setdefault(each.options, []).append(each)
            modules = {options: compiled(those, architecture) for options, those in alike.items()}
            return [modules[each.options] for each in some]

        modules = _each(sound, compiled_each, SimtmmError)
        for kernel in sound:
            module = modules[kernel.seed]
            if isinstance(module, Exception):
                found.append(Outcome(kernel, PTX, architecture, INVALID, str(module)))
                continue
            for way in ways:
                ended, why = _ended(module, kernel, way, expected[kernel.seed])
                found.append(Outcome(kernel, way, architecture, ended, why))
    return found


def _each(kernels: Sequence[Kernel], run: Callable, refused: type[Exception]) -> dict[int, object]:
    """What comes of all kernels at once, by seed; of each alone, where one is refused: what is said of it then."""
    try:
        return {kernel.seed: value for kernel, value in zip(kernels, run(kernels), strict=True)} if kernels else {}
    except refused as error:
        if len(kernels) == 1:
            return {kernels[0].seed: error}
    return {key: value for kernel in kernels for key, value in _each([kernel], run, refused).items()}


def _ended(module, kernel: Kernel, way: str, expected: Sequence[np.ndarray]) -> tuple[str, str]:
    try:
        with bounded():
            function: KernelFunction | None = as_ptx(module, kernel)
            if way == MACHINE_CODE:
                function, why = as_machine_code(module, kernel)
                if function is None:
                    return REFUSED, why
            left = run_on_device(function, kernel)
    except KeyboardInterrupt:
        raise
    except Exception as error:  # whatever it is, no kernel may bring it about
        return FAILED, f"{type(error).__name__}: {error}"
    for name, ours, right in zip(("in", "out", "totals", "wide totals"), left, expected, strict=True):
        if not np.array_equal(ours, right):
            at = int(np.flatnonzero(ours != right)[0])
            return DIFFERENT, f"{name}[{at}] is {int(ours[at]):#x}, not {int(right[at]):#x}"
    return EQUAL, ""
