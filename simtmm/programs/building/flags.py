"""The words that a program is built with, as they are written for nvcc, and which of them go on to compilers."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from simtmm.errors import CompilerError, shown

# nvcc gives its words to a shell, where they must be nothing but themselves.
_HARMLESS = re.compile(r"[\w ./+,=@%~:()*-]*")
_ALONE = re.compile(
    r"-{1,2}(?:use_fast_math|expt-relaxed-constexpr|expt-extended-lambda|extended-lambda|restrict|w|disable-warnings|"
    r"extra-device-vectorization|O[0-3]?|m64|default-stream=[\w-]+|ftz=\w+|prec-div=\w+|prec-sqrt=\w+|fmad=\w+|"
    r"maxrregcount=\d+|diag-suppress=[\w,-]+|std=(?:c|gnu)\+\+\w+)"
)
_WITH_VALUE = ("-I", "-isystem", "-include", "-U", "-std", "--std", "-maxrregcount", "--maxrregcount", "-diag-suppress",
               "--diag-suppress", "-default-stream", "--default-stream", "-x")  # fmt: skip
_COMPILER = ("-Xcompiler", "--compiler-options", "-Xcompiler=", "--compiler-options=")
_DROPPED = re.compile(
    r"-{1,2}(?:g|G|lineinfo|generate-line-info|device-debug|debug|v|verbose|keep|cudart=\w+|"
    r"code=.*|gpu-code=.*|Xptxas=.*|ptxas-options=.*|allow-unsupported-compiler|c|"
    r"compress-mode=\w+|threads=\d+|t=?\d+|split-compile=\d+|dlto|res-usage|resource-usage|source-in-ptx|Wno-.*|pg|"
    r"ccbin=.*|objdir-as-tempdir|forward-unknown-to-host-compiler|no-compress)"
)
_DROPPED_WITH_VALUE = ("-o", "--output-file", "-code",
                       "--gpu-code", "-Xptxas", "--ptxas-options", "-cudart", "--cudart", "-ccbin", "-Xlinker",
                       "-Xnvlink", "-t", "--threads", "-Xcudafe", "-Xarchive", "-lineno")  # fmt: skip
_ARCHITECTURE = ("-arch", "--gpu-architecture", "-gencode", "--generate-code")
_SM = re.compile(r"(?:sm|compute|lto)_(\d{2,3}[af]?)")
# Libraries of CUDA's, which are not here: calls of them are reported by name.
_CUDA_LIBRARIES = re.compile(
    r"-l(?:cuda(?:rt|rt_static|devrt)?|cu(?:blas|blasLt|fft|fftw|rand|sparse|solver|dnn|pti|file)(?:_static)?|"
    r"np\w+|nv\w+|nccl|thrust|rt|dl)"
)


WAVES = "SIMTMM_WARP=64"
"""The macro by which HIP programs run in waves of 64 lanes (include/hip/simtmm_wave.h)."""
WAVE = 64  # lanes of these


@dataclass(frozen=True)
class Flags:
    """What words say.

    compiling: for nvcc, where it compiles. macros: as "NAME" or "NAME=VALUE". linking: for the host's linker.
    relocatable: whether device code of several files is linked. architecture: that is named, as "90a"; "" for none, or
    for several.
    """

    compiling: tuple[str, ...] = ()
    macros: tuple[str, ...] = ()
    linking: tuple[str, ...] = ()
    relocatable: bool = False
    architecture: str = ""

    @property
    def has_waves(self) -> bool:
        """Whether HIP code runs in waves of 64 lanes."""
        return WAVES in self.macros

    @property
    def number(self) -> int | None:
        """Compute capability times ten of the architecture that is named."""
        return int(self.architecture.rstrip("af")) if self.architecture else None


def parse_flags(words: Sequence[str]) -> Flags:  # noqa: C901 - a case for each kind of flag of nvcc
    """What words for nvcc say. Raises CompilerError for one that is not taken."""
    compiling: list[str] = []
    macros: list[str] = []
    linking: list[str] = []
    relocatable = False
    architectures: set[str] = set()
    waiting = list(words)
    for word in waiting:
        if "\n" in word or "\0" in word:
            raise CompilerError(f"option {shown(word)}: must be a text of one line")
    while waiting:
        word = waiting.pop(0)
        name, sign, value = word.partition("=")
        if word in ("-rdc=true", "--relocatable-device-code=true", "-dc", "--device-c"):
            relocatable = True
        elif word in ("-rdc=false", "--relocatable-device-code=false"):
            relocatable = False
        elif word in ("-rdc", "--relocatable-device-code"):
            relocatable = _value(word, waiting) == "true"
        elif word.startswith("-D") or name == "--define-macro":
            macros.append(value if name == "--define-macro" else word[2:] or _value(word, waiting))
        elif name in _COMPILER or word in _COMPILER:
            options = (value if sign else _value(word, waiting)).replace(",-", " -").split()
            compiling += [f"-Xcompiler={option}" for option in options]
            linking += [option for option in options if option.startswith(("-fopenmp", "-pthread"))]
        elif name in _ARCHITECTURE:
            architectures |= set(_SM.findall(value if sign else _value(word, waiting)))
        elif _DROPPED.fullmatch(word) or _CUDA_LIBRARIES.fullmatch(word):
            pass
        elif word in _DROPPED_WITH_VALUE:
            _value(word, waiting)
        elif word.startswith(("-l", "-L")):
            linking.append(word if len(word) > 2 else word + _value(word, waiting))
        elif _ALONE.fullmatch(word) or re.fullmatch(r"-[IU].+|-include=.+|-isystem=.+", word):
            compiling.append(word)
        elif word in _WITH_VALUE:
            compiling += [word, _value(word, waiting)]
        else:
            raise CompilerError(f"option {shown(word)}: is not supported; supported: -I DIR, -D NAME=VALUE, "
                                "-O3, -std=c++17, --use_fast_math, --extended-lambda, -rdc=true, "
                                "-Xcompiler -fopenmp, -lm")  # fmt: skip
    for word in compiling:
        if not _HARMLESS.fullmatch(word):
            raise CompilerError(f"option {shown(word)}: may have only letters, digits, spaces and ./+,=@%~:()*_-")
    one = architectures.pop() if len(architectures) == 1 else ""
    return Flags(tuple(compiling), tuple(macros), tuple(linking), relocatable, one)


def split_flags(texts: Sequence[str]) -> list[str]:
    """Words of texts as a shell would part them.

    texts: as a user gives them.

    Raises CompilerError where quotes don't end.
    """
    try:
        return [word for text in texts for word in shlex.split(text)]
    except ValueError as error:
        raise CompilerError(f"--build {shown(' '.join(texts))}: {error}") from None


def _value(word: str, waiting: list[str]) -> str:
    if not waiting:
        raise CompilerError(f"option {shown(word)}: must be followed by a value")
    return waiting.pop(0)
