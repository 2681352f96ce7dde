"""A program compiled by nvcc and linked with our CUDA runtime, kept in the user's cache."""

import contextlib
import hashlib
import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from simtmm.cache import find, keep, own_folder
from simtmm.cache.compiled import announced
from simtmm.children.start import run
from simtmm.cuda.compilers.architecture import target_of
from simtmm.cuda.compilers.complaint import complaint
from simtmm.cuda.compilers.includes import OF_ONE_ARCHITECTURE, Included, included, times_as_long
from simtmm.cuda.compilers.wheels import find_host_compiler, find_nvcc, include_folders, stamp
from simtmm.errors import CompilerError
from simtmm.files import check_regular
from simtmm.programs.building.flags import Flags, parse_flags
from simtmm.programs.building.main_function import has_device_code
from simtmm.programs.building.missing import missing_library, stubs_of, unresolved
from simtmm.programs.building.runtime_library import FOLDER, HEADERS, runtime_library, text_of
from simtmm.programs.building.wrapped import WRAPPED
from simtmm.temporary import scratch

USUAL = 4.0  # seconds that nvcc takes for a file of a program, about
NAMES, GIVEN_BACK, PLAIN = "names", "given back", "plain"
_HEADERS_OF = {NAMES: ["-DSIMTMM_NAMES", "-include=simtmm_cuda.h"], GIVEN_BACK: ["-include=simtmm_cuda.h"], PLAIN: []}
_OLD = {"SIMTMM_THRUST": re.compile(rb"#\s*include\s*<thrust/"),
        "SIMTMM_TEXTURE_REFERENCES": re.compile(rb"\btexture\s*<"),
        "SIMTMM_OLD_VOTES": re.compile(rb"\b__(?:any|all|ballot)\s*\(")}  # fmt: skip
_HIP = re.compile(rb"#\s*include\s*[<\"]hip/hip_")
_OF_RUNTIME = ("cuda_runtime_api.h", "driver_types.h", "surface_types.h", "texture_types.h", "cuda_runtime.h")
_CUDA_NAME = re.compile(r"\bcuda([A-Z]\w*)")
CYCLES = "simtmm_cycles.s"  # which the assembler reads before host code
READS_CYCLES = platform.machine() in ("x86_64", "AMD64")
_PLAIN_PATH = re.compile(r"[\w ./+,=@%~-]*")


@dataclass(frozen=True)
class Built:
    """A program that can be loaded. library: it. headers: which of ours were read before its own text."""

    library: Path
    headers: str


def build_program(paths: Sequence[Path], architecture: int, options: Sequence[str] = ()) -> Built:
    """Compile files and link them.

    paths: of the files. architecture: compute capability times ten. options: as nvcc takes them.

    Raises CompilerError with file, line and the first error, or with what is called of libraries that are not here.
    """
    flags = parse_flags(options)
    library = runtime_library()
    texts = [_content(path) for path in paths]
    included = _headers(paths, texts, flags)
    read = [*texts, *(_content(Path(path)) for path, _ in included.digests)]
    if flags.has_waves and not any(_HIP.search(text) for text in read):
        raise CompilerError(f"--warp 64: is for HIP programs, but {paths[0]} includes no hip/hip_runtime.h")
    is_of_one = any(OF_ONE_ARCHITECTURE.search(text) for text in read)
    flags = replace(flags, architecture=flags.architecture or target_of(architecture, is_of_one))
    old = [f"-D{name}" for name, pattern in _OLD.items() if any(pattern.search(text) for text in read)]
    refused: CompilerError | None = None
    usual = USUAL * len(paths) * times_as_long(read)
    with announced(f"{paths[0].name} for sm_{architecture}", usual):  # once, however many headers are tried
        for headers in (NAMES, GIVEN_BACK, PLAIN):
            words = [*_HEADERS_OF[headers], *old]
            try:
                return Built(_built(paths, texts, included, architecture, flags, words, library), headers)
            except CompilerError as error:
                refused = refused or error
                if "does not compile" not in str(error) or headers == PLAIN:
                    raise (missing_library(refused, texts) or refused) from None
    raise AssertionError


def _headers(paths: Sequence[Path], texts: Sequence[bytes], flags: Flags) -> Included:
    """The program's own headers."""
    folders = [Path(word[2:]) for word in flags.compiling if word.startswith("-I") and len(word) > 2]
    folders += [Path(b) for a, b in zip(flags.compiling, flags.compiling[1:], strict=False) if a == "-I"]
    return included([(text, path.absolute().parent) for text, path in zip(texts, paths, strict=True)], folders)


def _built(
    paths: Sequence[Path],
    texts: Sequence[bytes],
    included: Included,
    architecture: int,
    flags: Flags,
    words: list[str],
    runtime: Path,
) -> Path:
    nvcc, host = find_nvcc(), find_host_compiler()
    parts = [str(Path.cwd()), *map(str, paths), *(hashlib.sha256(text).hexdigest() for text in texts), repr(flags),
             str(words), str(architecture), str(included.digests), stamp(nvcc), stamp(Path(host).resolve()),
             runtime.name, text_of(HEADERS), repr(WRAPPED), Path(__file__).read_text()]  # fmt: skip
    key = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]
    folder, label = own_folder(FOLDER), re.sub(r"\W+", "-", paths[0].stem)[:40] or "program"
    found = find(folder, label, key, ".so") if included.complete else None
    if found is not None:
        return found
    return keep(
        folder, label, key, ".so",
        lambda target: _compile(paths, flags, words, runtime, nvcc, host, target),
    )  # fmt: skip


def _compile(
    paths: Sequence[Path],
    flags: Flags,
    headers: list[str],
    runtime: Path,
    nvcc: Path,
    host: str,
    output: Path,
) -> None:
    with scratch("build") as folder:
        # What is linked across files must be assembled for that; all else stays PTX.
        target = flags.architecture
        code = f"[compute_{target},sm_{target}]" if flags.relocatable else f"compute_{target}"
        (folder / "simtmm_hip_names.h").write_text(_hip_names(include_folders(nvcc)))
        (folder / "macros.h").write_text("".join(_define(macro) for macro in flags.macros))
        words = [
            *("-allow-unsupported-compiler", f"-ccbin={host}", f"-gencode=arch=compute_{target},code={code}"),
            *(
                "-DCCCL_DISABLE_NVTX",
                "-lineinfo",
                "-no-compress",
                "-cudart=none",
                "-Xcompiler=-fPIC",
                f"-I{HEADERS}",
                f"-I{folder}",
            ),
            *(["-Xcompiler=-Xassembler", f"-Xcompiler={HEADERS / CYCLES}"] if READS_CYCLES else []),
            *(f"-isystem={place}" for place in include_folders(nvcc)),
            *(["-rdc=true"] if flags.relocatable else []),
            *([f"-include={folder / 'macros.h'}"] if flags.macros else []),
            *headers,
            *flags.compiling,
        ]
        objects = []
        for number, path in enumerate(paths):
            objects.append(folder / f"unit{number}.o")
            if not _PLAIN_PATH.fullmatch(str(path)):
                raise CompilerError(
                    f"{path}: nvcc does not accept this path: it may have only letters, digits and ./+,=@%~_-"
                )
            kind = ["-x", "cu"] if has_device_code(path) else []
            _called([str(nvcc), *words, *kind, "-c", str(path), "-o", str(objects[-1])], folder, str(path))
        if flags.relocatable:
            linked = folder / "linked.o"
            link = [
                str(nvcc),
                f"-arch=sm_{target}",
                "-dlink",
                "-Xcompiler=-fPIC",
                f"-ccbin={host}",
            ]
            _called([*link, *map(str, objects), "-o", str(linked)], folder, str(paths[0]))
            objects.append(linked)
        defined = _defined(objects)
        wrapped = [f"-Wl,--wrap={name}" for name in WRAPPED if name not in defined]
        link = [host, "-shared", "-o", str(output), *map(str, objects), str(runtime), "-Wl,-Bsymbolic", "-Wl,-z,defs",
                *wrapped, *flags.linking, *_found_again(flags.linking), "-lstdc++", "-lm", "-lpthread", "-ldl",
                f"-Wl,-rpath,{runtime.parent}"]  # fmt: skip
        done = run(link, scratch=folder)
        if done.status and (stubs := stubs_of(done.complaints)):
            _called([host, "-c", "-fPIC", "-x", "c", "-", "-o", str(folder / "stubs.o")], folder, str(paths[0]), stubs)
            done = run([*link, str(folder / "stubs.o")], scratch=folder)
        if done.status:
            raise unresolved(done.complaints, str(paths[0]))


def _found_again(linking: Sequence[str]) -> list[str]:
    """For the linker: folders of libraries, in which the program finds them when it runs, too."""
    return [f"-Wl,-rpath,{Path(word[2:]).absolute()}" for word in linking if word.startswith("-L")]


def _defined(objects: Sequence[Path]) -> frozenset[str]:
    """Names that a program defines itself, which mean its own wherever it uses them."""
    with contextlib.suppress(OSError):
        listed = run(["nm", "-g", "--defined-only", "-P", *map(str, objects)])
        return frozenset(line.split(" ", 1)[0] for line in listed.log.splitlines())
    return frozenset()


@cache
def _names_of(folder: Path) -> frozenset[str]:
    texts = (path.read_text(errors="replace") for name in _OF_RUNTIME if (path := folder / name).is_file())
    return frozenset(name for text in texts for name in _CUDA_NAME.findall(text))


def _hip_names(folders: Sequence[Path]) -> str:
    """HIP's names of all that the runtime's headers have."""
    names = sorted({name for folder in folders for name in _names_of(folder)})
    return "".join(f"#define hip{name} cuda{name}\n" for name in names)


def _called(words: list[str], folder: Path, name: str, given: str = "") -> None:
    try:
        done = run(words, scratch=folder, given=given.encode())
    except OSError as error:
        raise CompilerError(f"{words[0]}: can't be run ({error.strerror})") from None
    if done.status:
        raise complaint(done.log, name)


def _define(macro: str) -> str:
    name, sign, value = macro.partition("=")
    return f"#define {name} {value if sign else '1'}\n"


def _content(path: Path) -> bytes:
    check_regular(path, CompilerError)
    try:
        return path.read_bytes()
    except OSError as error:
        raise CompilerError(f"{path}: can't be read ({error.strerror})") from None
