"""Content: hashes of all that decides what a program does, its parameters apart, the key of its results."""

import hashlib
import os
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from simtmm.documents import parsed_json, parsed_toml
from simtmm.errors import KernelError, shown_error
from simtmm.files import is_file
from simtmm.kernel import Kernel
from simtmm.recorder.compiler import HEADERS, HERE
from simtmm.right_answer import linked_list
from simtmm.study.design.source_text import deciding_text

ARRAY = ".npy"
HOST = "host.py"
INPUTS = linked_list  # what hosts may import that decides a kernel's inputs


def kernel_digest(folder: Path) -> str:
    """Of what decides a kernel's results: its files without comments, docstrings and blank space, and our headers.

    Two kernels of one digest may differ in the lines on which things stand: see `files_digest`. Raises KernelError.

    folder: the kernel's.
    """
    return _folder_digest(folder, deciding_text)


def files_digest(folder: Path) -> str:
    """Of every file in a kernel's folder, byte by byte, and of our headers: the key of a recording.

    folder: the kernel's.

    Raises KernelError.
    """
    return _folder_digest(folder, lambda path, content: content)


def _folder_digest(folder: Path, read: Callable[[Path, bytes], bytes]) -> str:
    """Of the files in a kernel's folder as `read` gives them, of modules of simtmm that make its inputs, and of the
    headers it is recorded with.
    """
    digest = hashlib.sha256()
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
    try:
        for path in files:
            content = path.read_bytes()
            digest.update(f"{path.relative_to(folder).as_posix()}\0".encode())
            digest.update(hashlib.sha256(read(path, content)).digest())
            if path.name == HOST and INPUTS.__name__.rpartition(".")[2].encode() in content:
                source = Path(str(INPUTS.__file__))
                digest.update(hashlib.sha256(deciding_text(source, source.read_bytes())).digest())
        for header in HEADERS:
            digest.update((HERE / header).read_bytes())
    except OSError as error:
        raise KernelError(f"{folder}: can't be read ({error.strerror})") from None
    return digest.hexdigest()[:32]


def launches_digest(path: Path, program: Kernel) -> str:
    """Of a file of launches, and of the files of device code, headers and arrays that it names.

    path: of the file, or of one in JSON that describes launches. program: what it describes. Where macros name headers
    that can't be followed, no two digests are equal.
    Raises KernelError and CompilerError.
    """
    from simtmm.cuda.build import SOURCES
    from simtmm.cuda.compilers.compile import SEARCHED
    from simtmm.cuda.compilers.includes import included
    from simtmm.cuda.compilers.options import parse_options

    options = parse_options(program.options)
    read = path
    try:
        texts = path.read_bytes()
        digest = hashlib.sha256(texts)
        sources = []
        for read in program.source_paths:
            content = read.read_bytes()
            digest.update(f"{read.name}\0".encode() + hashlib.sha256(content).digest())
            if read.suffix in SOURCES:
                sources.append((content, read.absolute().parent))
        parsed = parsed_json(texts) if path.suffix == ".json" else parsed_toml(texts.decode("utf-8-sig"))
        for text in _texts(parsed):
            read = program.folder / text
            if text.endswith(ARRAY) and is_file(read):
                with read.open("rb") as file:
                    digest.update(f"{text}\0".encode() + hashlib.file_digest(file, "sha256").digest())
    except OSError as error:
        raise KernelError(f"{read}: can't be read ({error.strerror})") from None
    except ValueError as error:  # it has changed since it was read
        raise KernelError(f"{path}: can't be read ({shown_error(error)})") from None
    more = [Path(entry) for name in SEARCHED for entry in os.environ.get(name, "").split(os.pathsep) if entry]
    macros = "\n".join(
        f"#define {name} {value}" for name, _, value in (each[2:].partition("=") for each in options.macros)
    )
    sources += [(f"{macros}\n#include".encode(), program.folder)] if macros else []
    sources += [(f'#include "{each}"'.encode(), program.folder) for each in options.included]
    found = included(sources, [*map(Path, options.folders), program.folder, Path.cwd(), *more])
    digest.update("\0".join(chain.from_iterable(found.digests)).encode("utf-8", "surrogateescape"))
    if not found.complete:
        digest.update(os.urandom(16))
    return digest.hexdigest()[:32]


def _texts(value: Any) -> Iterator[str]:
    """All texts in a document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)
