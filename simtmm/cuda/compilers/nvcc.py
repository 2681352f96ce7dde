"""nvcc, called as a program: a .cu file to PTX.

nvcc gives its words to a shell, where a `$(...)` in one of them would be run: so no word is given to it that a shell
could read as anything but itself. Macros go into a file of their own.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from simtmm.children.start import run
from simtmm.cuda.compilers.complaint import NAMES, complaint
from simtmm.cuda.compilers.options import Options
from simtmm.cuda.compilers.wheels import find_host_compiler, find_nvcc, include_folders
from simtmm.errors import CompilerError, shown
from simtmm.temporary import scratch

_HARMLESS = re.compile(r"[\w ./+,=@%~-]*")  # within the quotes that nvcc puts around a path
_EXPRESSION = re.compile(r"[\w:<>, *&()+-]+")  # no more than a name and template arguments: it becomes code
_PLAIN = re.compile(r"-[DU]\w+(?:=[\w.+-]*)?")


def compiled_file(path: Path, architecture: str, options: Options, expressions: Sequence[str] = ()) -> tuple[str, str]:
    """The PTX of a file, and what the compiler printed.

    path: of the file, absolute.
    architecture: "90" or "90a".
    options: a user's.
    expressions: kernels as C++ names them that are to be in it, instances of templates as a rule.

    Raises CompilerError with the first error, or with what is missing.
    """
    nvcc = find_nvcc()
    with scratch("nvcc") as folder:
        ptx = folder / "unit.ptx"
        source = _with_instances(path, expressions, folder / "instances.cu") if expressions else path
        words = [
            *("-ptx", "-lineinfo", "-allow-unsupported-compiler", f"-ccbin={find_host_compiler()}"),
            *(f"-arch=compute_{architecture}", f"-std={options.standard}", *options.switches, *options.nvcc),
            *(["-rdc=true"] if options.relocatable else []),
            *(f"-I{place}" for place in options.folders),
            *(f"-isystem={place}" for place in include_folders(nvcc)),
            *_macros(options.macros, folder / "macros.h"),
            *(f"-include={each}" for each in options.included),
            *("-x", "cu", str(source), "-o", str(ptx)),
        ]
        for word in [str(path), *words]:
            if not _HARMLESS.fullmatch(word):
                raise CompilerError(
                    f"{path}: nvcc does not accept {word!r}: a path may have only letters, digits, spaces and "
                    "./+,=@%~_-"
                )
        try:
            done = run([str(nvcc), *words], folder=folder, scratch=folder)
        except OSError as error:
            raise CompilerError(f"{nvcc}: can't be run ({error.strerror})") from None
        if done.status:
            raise complaint(done.log, str(path), expressions)
        return ptx.read_text(encoding="utf-8", errors="replace"), done.log


def _with_instances(path: Path, expressions: Sequence[str], source: Path) -> Path:
    """A file that takes the user's in and names the instances of its templates."""
    lines = [f'#include "{path}"', f'#line 1 "{NAMES}"']
    for number, expression in enumerate(expressions):
        if not _EXPRESSION.fullmatch(expression):
            raise CompilerError(f"{path}: kernel {shown(expression)}: must be a name such as scale<float, 3>")
        lines.append(f"[[maybe_unused]] static const auto simtmm_instance_{number} = &{expression};")
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return source


def _macros(macros: tuple[str, ...], header: Path) -> list[str]:
    """Words that define macros: as they are where all are plain, else a header that does it."""
    if all(_PLAIN.fullmatch(macro) for macro in macros):
        return list(macros)
    lines = []
    for macro in macros:
        name, _, value = macro[2:].partition("=")
        if macro.startswith("-U"):
            lines.append(f"#undef {name}\n")
        else:
            lines.append(f"#define {name} {value if '=' in macro else '1'}\n")
    header.write_text("".join(lines), encoding="utf-8")
    return [f"-include={header}"]
