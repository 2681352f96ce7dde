"""CUDA C++ to PTX: texts with NVRTC, files with nvcc, both stored in the user's cache."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import astuple, replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from simtmm.cache.compiled import announced
from simtmm.children.start import run
from simtmm.cuda.compilers.architecture import supported_architectures, target_of
from simtmm.cuda.compilers.includes import Included, included, times_as_long
from simtmm.cuda.compilers.kept import kept
from simtmm.cuda.compilers.long_functions import check_functions
from simtmm.cuda.compilers.lost_lines import with_lost_lines
from simtmm.cuda.compilers.module import CompiledModule, check_kernels
from simtmm.cuda.compilers.names import entry_named
from simtmm.cuda.compilers.nvcc import compiled_file
from simtmm.cuda.compilers.nvrtc import nvrtc
from simtmm.cuda.compilers.options import Options, parse_options
from simtmm.cuda.compilers.wheels import find_host_compiler, find_nvcc, find_nvrtc, include_folders, stamp
from simtmm.documents import LONGEST_CODE_LINE, read_code
from simtmm.errors import CompilerError
from simtmm.files import check_regular

_FILE = re.compile(r'^([ \t]*\.file[ \t]+\d+[ \t]+")([^"]*)(")', re.MULTILINE)
USUAL = 4.0  # seconds that nvcc takes for a file, about
USUAL_OF_SOURCE = 1.5  # likewise NVRTC for the text of a kernel
SEARCHED = ("CPATH", "CPLUS_INCLUDE_PATH")  # folders of headers that the host's compiler adds by itself


def compile_source(
    source: str,
    *,
    name: str = "kernel.cu",
    architecture: int,
    options: Sequence[str] = (),
    name_expressions: Sequence[str] = (),
    headers: Mapping[str, str] | None = None,
) -> CompiledModule:
    """A text of CUDA C++ compiled by NVRTC, or as it was compiled before.

    source: the text. It finds CUDA's headers, those of -I and of the working directory, none of the host.
    name: what it is called in messages; a path makes its folder one that is searched for headers.
    architecture: compute capability times ten, as `architecture_of` finds it; -arch in the options comes first.
    options: as cupy.RawModule takes them: simtmm/cuda/compilers/options.py.
    name_expressions: kernels and variables as C++ names them, "saxpy<float>" or "&factor".
    headers: texts that #include finds, by name.

    Raises CompilerError with file, line and the first error; all of the compiler's log is its attribute `log`.
    """
    name, headers = name or "kernel.cu", dict(headers or {})
    if not isinstance(source, str):
        raise CompilerError(f"{name}: source must be a text, not {type(source).__name__}")
    check_kernels(name, source.count("__global__"))
    check_functions(name, source.encode("utf-8", "replace"))
    parsed = parse_options(options)
    library = find_nvrtc()
    place = Path(name).absolute().parent
    included = _headers([(source.encode("utf-8", "replace"), place)], parsed, [Path.cwd()], headers)
    target = parsed.architecture or target_of(architecture, included.is_of_one)

    def make() -> dict[str, Any]:
        _check_architecture(name, target)
        with announced(f"{name} for sm_{target}", USUAL_OF_SOURCE):
            words = [
                *(f"--gpu-architecture=compute_{target}", "-lineinfo", f"--std={parsed.standard}"),
                *(*parsed.switches, *parsed.nvrtc, *parsed.macros),
                *(["-rdc=true"] if parsed.relocatable else []),
                *(f"--pre-include={each}" for each in parsed.included),
                *(f"-I{folder}" for folder in chain(parsed.folders, include_folders(library))),
            ]
            compiled = nvrtc(library).compiled(source, name, words, name_expressions, headers)
        ptx = _with_names_given(compiled.ptx, [name, *headers])
        return {"ptx": ptx, "names": compiled.names, "log": compiled.log}

    parts = ["nvrtc", stamp(library), source, name, target, *_texts(parsed, included), "expressions", *name_expressions,
             "headers", *chain.from_iterable(headers.items())]  # fmt: skip
    compiled = kept(name, parts, make) if included.complete else make()
    texts = {name: source, **headers}
    return with_lost_lines(
        CompiledModule(
            compiled["ptx"], _number(target), compiled["names"], compiled["log"], name, texts, parsed.assembler
        )
    )


def compile_files(
    paths: str | Path | Sequence[str | Path],
    *,
    architecture: int,
    options: Sequence[str] = (),
    name_expressions: Sequence[str] = (),
) -> list[CompiledModule]:
    """CUDA files compiled by nvcc, each to a module of its own, or as they were compiled before.

    paths: the files, or one. Several are compiled so that they may call one another's functions (-rdc=true), unless the
        options say otherwise; `linked_resources` tells what their kernels take.
    architecture, options: as of `compile_source`.
    name_expressions: kernels as C++ names them, "saxpy<float>", for the files in which their names stand.

    Raises CompilerError with file, line and the first error, or with what is missing: nvcc, or the host's compiler.
    """
    paths = [paths] if isinstance(paths, (str, Path)) else list(paths)
    parsed = parse_options(options)
    if parsed.nvrtc:
        raise CompilerError(f"option {parsed.nvrtc[0]!r}: not supported for files: only NVRTC knows it")
    if parsed.relocatable is None:
        parsed = replace(parsed, relocatable=len(paths) > 1)
    contents = {Path(path): _content(Path(path)) for path in paths}
    texts = [(content, path.absolute().parent) for path, content in contents.items()]
    target = parsed.architecture or target_of(architecture, _headers(texts, parsed, _searched(), {}).is_of_one)
    wanted: dict[Path, list[str]] = {path: [] for path in contents}
    for expression in name_expressions:
        name = re.findall(r"\w+", expression.partition("<")[0])[-1:] or [""]
        homes = [path for path, content in contents.items() if re.search(rb"\b%s\b" % name[0].encode(), content)]
        wanted[(homes or list(contents))[0]].append(expression)
    return [_compiled_file(path, content, target, parsed, wanted[path]) for path, content in contents.items()]


def _content(path: Path) -> bytes:
    check_regular(path, CompilerError)
    return read_code(path, CompilerError, LONGEST_CODE_LINE)


def _compiled_file(
    given: Path, content: bytes, target: str, options: Options, expressions: Sequence[str]
) -> CompiledModule:
    path = given.absolute()
    check_kernels(str(given), content.count(b"__global__"))
    check_functions(str(given), content)
    included = _headers([(content, path.parent)], options, _searched(), {})

    def make() -> dict[str, Any]:
        _check_architecture(str(given), target)
        read = [content, *(_content(Path(each)) for each, _ in included.digests)]
        with announced(f"{path.name} for sm_{target}", USUAL * times_as_long(read)):
            try:
                ptx, log = compiled_file(path, target, options, expressions)
            except CompilerError as error:
                raise CompilerError(str(error).replace(str(path), str(given)), error.log) from None
        return {"ptx": ptx, "log": log}

    host = Path(find_host_compiler())
    compilers = [stamp(find_nvcc()), _version(host, stamp(host.resolve())), *map(str, _searched())]
    parts = ["nvcc", *compilers, str(path), content.decode("latin-1"), target, *_texts(options, included)]
    parts += ["expressions", *expressions] if expressions else []
    compiled = kept(path.name, parts, make) if included.complete else make()
    module = with_lost_lines(
        CompiledModule(compiled["ptx"], _number(target), {}, compiled["log"], str(given), {}, options.assembler)
    )
    found = {expression: entry_named(module.entries, expression) for expression in expressions}
    return replace(module, names={expression: entry for expression, entry in found.items() if entry})


def _check_architecture(name: str, target: str) -> None:
    known = supported_architectures()
    if _number(target) not in known:
        raise CompilerError(
            f"{name}: architecture {target}: unknown to the compiler; known: {', '.join(map(str, known))}"
        )


def _headers(
    sources: list[tuple[bytes, Path]], options: Options, more: Sequence[Path], headers: Mapping[str, str]
) -> Included:
    """The user's headers that sources and options may read."""
    sources = list(sources)
    # An option may name headers too: -include, and a macro that an #include then takes
    for macro in options.macros:
        name, _, value = macro[2:].partition("=")
        sources.append((f"#define {name} {value}\n#include".encode(), sources[0][1]))
    sources += [(f'#include "{each}"'.encode(), Path(each).parent) for each in options.included]
    return included(sources, [*map(Path, options.folders), *more], headers)


def _texts(options: Options, included: Included) -> list[str]:
    """Options and headers as parts of a key."""
    return [repr(astuple(options)), *chain.from_iterable(included.digests)]


def _searched() -> list[Path]:
    return [Path(entry) for name in SEARCHED for entry in os.environ.get(name, "").split(os.pathsep) if entry]


def _with_names_given(ptx: str, names: Sequence[str]) -> str:
    """PTX whose `.file` directives call what was given as text by its own name, wherever the process stood."""
    here = {str(Path.cwd() / name): name for name in names}
    return _FILE.sub(lambda found: f"{found[1]}{here.get(found[2], found[2])}{found[3]}", ptx)


def _number(target: str) -> int:
    return int(target.rstrip("af"))


@cache
def _version(program: Path, stamp: str) -> str:
    """What the host's compiler says it is; its stamp alone, where it can't be run."""
    try:
        output = run([str(program), "--version"]).text
    except OSError:
        output = ""
    return f"{stamp} {output}"
