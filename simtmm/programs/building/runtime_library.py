"""The CUDA runtime of ours as a library, compiled by the host's compiler when it is needed first."""

import hashlib
import re
from functools import cache
from pathlib import Path

from simtmm.cache import find, keep, own_folder
from simtmm.cache.compiled import announced
from simtmm.children.start import run
from simtmm.cuda.compilers.wheels import find_host_compiler, find_nvcc, include_folders, stamp
from simtmm.errors import CompilerError
from simtmm.programs.building.wrapped import WRAPPED
from simtmm.temporary import scratch

HERE = Path(__file__).resolve().parents[1]
SOURCES, HEADERS = HERE / "runtime", HERE / "include"
HEADER = "cuda_runtime_api.h"
REFUSED = "refused.cpp"  # which declares functions in its own way
USUAL = 6.0  # seconds that it takes, about
FOLDER = "programs"  # of the user's cache
_FUNCTION = re.compile(r"CUDARTAPI\s+(\w+)\s*\(")  # of the runtime, as its header declares it
_OURS = re.compile(r"^(?:API|extern \"C\".*\))\s.*?\b(cuda\w+)\(|^API (cuda\w+)\(", re.MULTILINE)
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_ERROR = re.compile(r"^\s*(cuda(?:Success|Error\w+))\s*=\s*(\d+)", re.MULTILINE)


def text_of(folder: Path) -> str:
    """All files of a folder, which decide what is built of them."""
    return "\0".join(f"{path.name}\0{path.read_text()}" for path in sorted(folder.rglob("*")) if path.is_file())


@cache
def runtime_library() -> Path:
    """The library. Raises CompilerError where there is no compiler, or no headers of CUDA's."""
    nvcc, host = find_nvcc(), find_host_compiler()
    parts = (text_of(SOURCES), repr(WRAPPED), stamp(nvcc), stamp(Path(host).resolve()))
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]
    folder = own_folder(FOLDER)
    found = find(folder, "runtime", key, ".so")
    if found is not None:
        return found
    with announced("the CUDA runtime for programs", USUAL):
        return keep(folder, "runtime", key, ".so", lambda path: _compile(path, host, include_folders(nvcc)))


def not_ours(header: str) -> list[str]:
    """The functions that CUDA's header declares and this runtime has no other code for than a refusal.

    header: its text.
    """
    ours = {name for path in SOURCES.glob("*.cpp") for pair in _OURS.findall(path.read_text()) for name in pair}
    return sorted({*_FUNCTION.findall(_COMMENT.sub("", header))} - ours)


def _compile(path: Path, host: str, folders: list[Path]) -> None:
    errors = next(folder / "driver_types.h" for folder in folders if (folder / "driver_types.h").is_file())
    names = "".join(f'{{{number}, "{name}"}},\n' for name, number in _ERROR.findall(errors.read_text()))
    declared = next(folder / HEADER for folder in folders if (folder / HEADER).is_file())
    refused = "".join(f"REFUSED({name})\n" for name in not_ours(declared.read_text()))
    with scratch("runtime") as folder:
        (folder / "refused.inc").write_text(refused)
        (folder / "error_names.inc").write_text(names)
        (folder / "wrapped.inc").write_text("".join(f"WRAPPED({name})\n" for name in WRAPPED))
        words = [
            host,
            "-std=c++17",
            "-O2",
            "-fPIC",
            "-shared",
            "-fvisibility=hidden",
            "-w",
            f"-I{folder}",
            f"-I{SOURCES}",
        ]
        words += [word for each in folders for word in ("-isystem", str(each))]
        # As one unit: half of the time goes to headers, which all of them include but the one that refuses.
        others = [each.name for each in sorted(SOURCES.glob("*.cpp")) if each.name != REFUSED]
        whole = folder / "runtime.cpp"
        whole.write_text("".join(f'#include "{each}"\n' for each in others))
        words += [str(whole), str(SOURCES / REFUSED), "-o", str(path), "-Wl,-z,defs", "-ldl", "-lpthread"]
        done = run(words, scratch=folder)
    if done.status:
        complaints = done.complaints
        first = next((line for line in complaints.splitlines() if "error" in line), complaints[:200])
        raise CompilerError(f"simtmm's CUDA runtime for programs does not compile: {first}", complaints)
