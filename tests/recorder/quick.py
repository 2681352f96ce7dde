"""Tiny kernels built in half the time: not optimised, headers of the C++ library read beforehand, a quick linker."""

import functools
import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

from simtmm.cache import own_folder
from simtmm.errors import CompilerError
from simtmm.files import cache_folder
from simtmm.recorder import compiler

ROOT = cache_folder()  # as it is before any test takes one of its own
USERS = compiler.FLAGS
OWN = tuple(compiler.HERE / name for name in compiler.HEADERS)


@functools.cache
def quick_flags(sources=OWN, flags=(*USERS, "-O0")):
    """Flags to build with, those given among them. sources: the C++ whose `#include <...>` are read beforehand.

    Where the compiler is not GCC, or there is none, the same flags.
    """
    try:
        command = compiler.find_compiler()
        version = compiler._version(tuple(command))
    except CompilerError:
        return flags
    if "Free Software Foundation" not in version:
        return flags
    text = "".join(
        f"{line}\n"
        for source in sources
        for line in re.findall(r"^#(?:include <|undef ).*", Path(source).read_text(encoding="utf-8"), re.MULTILINE)
    )
    key = hashlib.sha256("\0".join((version, text, *flags)).encode()).hexdigest()[:20]
    folder = own_folder("tests-headers", ROOT)
    header = folder / f"{key}.h"
    read = folder / f"{key}.h.gch"
    if not read.exists():
        own = folder / f"{key}-{os.getpid()}"
        own.write_text(text, encoding="utf-8")
        result = own.with_suffix(".gch")
        subprocess.run([*command, *flags, "-x", "c++-header", str(own), "-o", str(result)], check=True)
        own.replace(header)
        result.replace(read)
    linker = ("-fuse-ld=gold",) if shutil.which("ld.gold") else ()
    return (*flags, *linker, "-include", str(header))
