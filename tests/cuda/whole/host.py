"""Kernels as C++, compiled by GCC: what they leave."""

import atexit
import functools
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tests.cuda.whole.kernels import COMMON, Kernel

HERE = Path(__file__).parent
FLAGS = ("-std=c++17", "-O1", "-w", "-ffp-contract=off", "-frounding-math", "-fsigned-zeros")
CHECKS = (
    "-fsanitize=undefined",
    "-fno-sanitize=alignment",
    "-fno-sanitize-recover=all",
)  # of a type that is packed, none
SECONDS = 120.0  # that a compiler may take, and a program


class HostError(Exception):
    """What is no kernel: a compiler refuses it, or its threads wait for each other, or C++ does not define it."""


def source_of(kernels: Sequence[Kernel]) -> str:
    """A program that reads the arrays of each kernel, one behind the other, and writes what they hold then."""
    runs = "".join(
        f"""
  {{
    static std::vector<u64> in({len(arrays[0])}), out({len(arrays[1])}), wide({len(arrays[3])});
    static std::vector<u32> totals({len(arrays[2])});
    read(in), read(out), read(totals), read(wide);
    auto kernel = [] {{ {kernel.name}(in.data(), out.data(), totals.data(), wide.data()); }};
    fibers::run(kernel, {kernel.blocks}, {kernel.threads});
    write(in), write(out), write(totals), write(wide);
  }}"""
        for kernel in kernels
        for arrays in [kernel.arrays()]
    )
    return f"""\
{COMMON}
{_MACROS}
{"".join(kernel.text for kernel in kernels)}
template <class T> void read(T& a) {{
  if (std::fread(a.data(), sizeof a[0], a.size(), stdin) != a.size()) std::_Exit(4);
}}
template <class T> void write(T& a) {{ std::fwrite(a.data(), sizeof a[0], a.size(), stdout); }}
int main() {{{runs}
}}
"""


_MACROS = """\
#define NOTE(value) h = rotated<u64>(h, 7) * 0x9e3779b97f4a7c15ull + (u64)bits_of(value);
#define LEAVE { mine[0] = h; return; }
"""


def device_source(kernels: Sequence[Kernel]) -> str:
    """The same kernels for NVRTC."""
    return "".join(("#include <cuda_fp16.h>\n", COMMON, _MACROS, *(kernel.text for kernel in kernels)))


def run_on_host(kernels: Sequence[Kernel], checked: bool = False) -> list[list[np.ndarray]]:
    """The arrays that each kernel leaves. checked: whether what C++ does not define ends it.

    Raises HostError.
    """
    arrays = [kernel.arrays() for kernel in kernels]
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "kernels.cpp", Path(folder) / "kernels"
        source.write_text(source_of(kernels), encoding="utf-8")
        _run(["g++", *_flags(checked), str(source), "-o", str(program)], b"")
        left = _run([str(program)], b"".join(array.tobytes() for each in arrays for array in each))
    found, at = [], 0
    for each in arrays:
        found.append([])
        for array in each:
            found[-1].append(np.frombuffer(left, array.dtype, len(array), at))
            at += array.nbytes
    return found


@functools.cache
def _flags(checked: bool) -> tuple[str, ...]:
    """Flags to compile with, of which one includes the shim, which is read beforehand: it takes the most time."""
    flags = (*FLAGS, *(CHECKS if checked else ()))
    folder = tempfile.TemporaryDirectory(prefix="whole-")
    atexit.register(folder.cleanup)
    header = Path(folder.name) / "shim.h"
    header.write_text(f'#include "{HERE / "shim.h"}"\n', encoding="utf-8")
    _run(["g++", *flags, "-x", "c++-header", str(header), "-o", f"{header}.gch"], b"")
    return (*flags, "-include", str(header))


def _run(command: Sequence[str], given: bytes) -> bytes:
    """What a program writes. Raises HostError where it fails."""
    try:
        done = subprocess.run(command, input=given, capture_output=True, check=False, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise HostError(f"{Path(command[0]).name} takes more than {SECONDS:.0f} s") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").splitlines()
        lines = [line for line in said if "error" in line] or said or [f"exit status {done.returncode}"]
        raise HostError(f"{Path(command[0]).name}: {lines[0]}")
    return done.stdout
