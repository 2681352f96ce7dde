"""A user's compiler options: which are supported, and their meaning for NVRTC, nvcc and ptxas.

An option may say what is compiled and how, never what is run, written, or linked: so those that are known stand here,
and every other is refused.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from simtmm.errors import CompilerError, shown

STANDARD = "c++17"
ALLOWED = (
    "-I DIR, -D NAME[=VALUE], -U NAME, -include FILE, -std=c++NN, -arch=sm_NN, -maxrregcount=N, --use_fast_math, "
    "-ftz, -prec-div, -prec-sqrt and -fmad (=true or =false), --extra-device-vectorization, --restrict, -rdc=true, "
    "--expt-relaxed-constexpr, --extended-lambda, --device-as-default-execution-space, -w, --diag-suppress=N, "
    "-Xptxas with -O0 to -O3, -dlcm=MODE or -dscm=MODE"
)
_BOOLEAN = "true|false"
_NUMBERS = r"[\w-]+(?:,[\w-]+)*"
# Options by their names without dashes: what the value must be (None: there is none), and whose they are
_FOR_BOTH = {
    "use_fast_math": None, "ftz": _BOOLEAN, "prec-div": _BOOLEAN, "prec-sqrt": _BOOLEAN, "fmad": _BOOLEAN,
    "extra-device-vectorization": None, "restrict": None, "disable-warnings": None, "maxrregcount": r"\d{1,3}",
    "diag-suppress": _NUMBERS, "diag-warn": _NUMBERS, "diag-error": _NUMBERS,
}  # fmt: skip
_FOR_NVRTC = {"device-as-default-execution-space": None, "device-int128": None}
_FOR_NVCC = {"expt-relaxed-constexpr": None, "extended-lambda": None}  # NVRTC needs neither
# What says nothing about a kernel's PTX, or what is always so
_IGNORED = {
    "O": r"[0-3]", "g": None, "lineinfo": None, "generate-line-info": None, "m64": None, "c": None,
    "allow-unsupported-compiler": None, "Xcompiler": r"-(?:W[\w=,-]*|O\w|g\w?|fPIC|fpic|fopenmp|march=[\w-]+|m64|w)",
}  # fmt: skip
_OTHERS = {
    "I": ".+", "D": r"[A-Za-z_]\w*(?:\([^)]*\))?(?:=.*)?", "U": r"[A-Za-z_]\w*", "include": ".+",
    "std": r"c\+\+(?:03|11|14|17|20|23)", "arch": r"(?:sm|compute)_\d{2,3}[af]?", "rdc": _BOOLEAN, "dc": None,
    "Xptxas": r"-(?:v|-verbose|O[0-3]|dlcm=\w+|dscm=\w+|warn-[\w-]+)(?:,-(?:v|O[0-3]|dlcm=\w+|dscm=\w+|warn-[\w-]+))*",
}  # fmt: skip
_KNOWN: dict[str, str | None] = {**_FOR_BOTH, **_FOR_NVRTC, **_FOR_NVCC, **_IGNORED, **_OTHERS}
_OTHER_NAMES = {
    "include-path": "I", "define-macro": "D", "undefine-macro": "U", "pre-include": "include", "preinclude": "include",
    "gpu-architecture": "arch", "relocatable-device-code": "rdc", "device-c": "dc", "ptxas-options": "Xptxas",
    "compiler-options": "Xcompiler", "w": "disable-warnings", "default-device": "device-as-default-execution-space",
    "expt-extended-lambda": "extended-lambda", "debug": "g", "optimize": "O", "compile": "c",
}  # fmt: skip
_REFUSED = {
    "G": "debug code differs from the code that runs otherwise",
    "device-debug": "debug code differs from the code that runs otherwise",
    "gencode": "a kernel is compiled for one architecture: name it with -arch=sm_NN",
    "generate-code": "a kernel is compiled for one architecture: name it with -arch=sm_NN",
}
_JOINED = ("I", "D", "U", "O")  # their values may follow without a sign


@dataclass(frozen=True)
class Options:
    """What a user's options say.

    folders: that are searched for headers, in order, absolute.
    macros: each "-DNAME=VALUE" or "-UNAME", in order.
    included: files that are read before the source, absolute.
    standard: of the language, as "c++17".
    switches: for NVRTC and nvcc alike, as "--ftz=true".
    nvrtc, nvcc: switches that only the one knows.
    relocatable: whether functions of other files may be called; None where not given.
    architecture: "90" or "90a"; None where not given.
    assembler: options of ptxas.
    """

    folders: tuple[str, ...] = ()
    macros: tuple[str, ...] = ()
    included: tuple[str, ...] = ()
    standard: str = STANDARD
    switches: tuple[str, ...] = ()
    nvrtc: tuple[str, ...] = ()
    nvcc: tuple[str, ...] = ()
    relocatable: bool | None = None
    architecture: str | None = None
    assembler: tuple[str, ...] = ()


def parse_options(options: Sequence[str], taken_from: Path | None = None) -> Options:  # noqa: C901 - a case for each kind of option of nvcc
    """What options say, as they are written for nvcc, NVRTC, or cupy.RawModule.

    options: words such as "-DN=4", "-I", "include", "--std=c++14".
    taken_from: the folder that relative paths are taken from; the working directory if left out.

    Raises CompilerError for one that is not taken, with those that are.
    """
    if isinstance(options, str):
        raise CompilerError(f"options = {shown(options)}: must be several words, such as ('-DN=4', '-Iinclude')")
    base = (taken_from or Path()).absolute()
    lists: dict[str, list[str]] = {"folders": [], "macros": [], "included": [], "switches": [], "nvrtc": [], "nvcc": [],
                                   "assembler": []}  # fmt: skip
    standard, relocatable, architecture = STANDARD, None, None
    for name, value in _pairs(options):
        switch = f"--{name}" if value is None else f"--{name}={value}"
        match name, value:
            case "I", str():
                lists["folders"].append(str(base / value))
            case "include", str():
                lists["included"].append(str(base / value))
            case "D" | "U", str():
                lists["macros"].append(f"-{name}{value}")
            case "std", str():
                standard = value
            case "arch", str():
                architecture = value.partition("_")[2]
            case "rdc" | "dc", _:
                relocatable = value != "false"
            case "Xptxas", str():
                lists["assembler"] += [word for word in value.split(",") if word not in ("-v", "--verbose")]
            case _:
                for known, of in ((_FOR_BOTH, "switches"), (_FOR_NVRTC, "nvrtc"), (_FOR_NVCC, "nvcc")):
                    if name in known:
                        lists[of].append(switch)
                if name == "maxrregcount":
                    lists["assembler"].append(switch)
    given = {name: tuple(values) for name, values in lists.items()}
    return Options(**given, standard=standard, relocatable=relocatable, architecture=architecture)


def _pairs(options: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    """Each option's name without dashes and its value, both known to be allowed."""
    words = iter(options)
    for word in words:
        if not isinstance(word, str) or "\n" in word or "\0" in word:
            raise CompilerError(f"option {shown(word)}: must be a text of one line")
        name, value = _split(word.strip())
        if name in _REFUSED:
            raise CompilerError(f"option {shown(word)}: not supported: {_REFUSED[name]}")
        if name not in _KNOWN:
            raise CompilerError(f"option {shown(word)}: not supported; allowed: {ALLOWED}")
        allowed = _KNOWN[name]
        if allowed is not None and value is None:
            value = next(words, None)
            if not isinstance(value, str):
                raise CompilerError(f"option {shown(word)}: must be followed by a value")
            value = value.strip()
        if (allowed is None and value is not None) or (allowed and not re.fullmatch(allowed, value or "")):
            raise CompilerError(f"option {shown(word)}, value {shown(value)}: not supported; allowed: {ALLOWED}")
        yield name, value


def _split(word: str) -> tuple[str, str | None]:
    bare = word.removeprefix("-").removeprefix("-") if word.startswith("-") else ""
    name, sign, value = bare.partition("=")
    name = _OTHER_NAMES.get(name, name)
    if name in _KNOWN or name in _REFUSED:
        return name, value if sign else None
    if bare[:1] in _JOINED and not word.startswith("--"):
        return bare[:1], bare[1:].strip()
    return name, value if sign else None
