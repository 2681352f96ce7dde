"""Triton's compiler, which compiles for an older architecture what simtmm does not run."""

import hashlib
import re
from typing import Any

from simtmm.cache import own_folder
from simtmm.scripts import notes

NOT_RUN = re.compile(
    r"^\s*(?:@!?%\w+\s+)?(tcgen05|clusterlaunchcontrol|multimem)\b",
    re.MULTILINE,
)
"""Instructions that Triton generates for sm_90 and later, and that the executor refuses."""

OLDER = 80
OLDER_WITH_FP8 = 89

FP8 = ("fp8e4nv", "f8E4M3FN")

_OF_ARCHITECTURE = (
    "arch",
    "supported_fp8_dtypes",
    "deprecated_fp8_dot_operand_dtypes",
    "max_num_imprecise_acc_default",
)


def cache_folder(src: Any = None) -> str:
    """Where Triton stores what it compiles: machine code is not made here, and its own cache has none of it then.

    src: a kernel as `triton.compile` takes it. Triton knows it by its text alone, and what it compiles names the file:
        so each file has a folder of its own, or lines of a copy would be told as the other's.
    """
    folder = own_folder("triton")
    function = getattr(getattr(src, "fn", None), "fn", None)
    if function is None:
        return str(folder)
    return str(folder / hashlib.sha256(function.__code__.co_filename.encode()).hexdigest()[:16])


def compiled_for_here(own: Any) -> Any:
    """`triton.compile`, which compiles again for an older architecture where there is something that is not run."""
    from triton import knobs
    from triton.backends.compiler import GPUTarget

    def compile(src: Any, target: Any = None, options: Any = None, **others: Any) -> Any:  # noqa: A001
        vars(knobs.cache)["dir"] = cache_folder(src)
        compiled = own(src, target=target, options=options, **others)
        found = NOT_RUN.search(compiled.asm.get("ptx", ""))
        if found is None:
            return compiled
        kinds = str(compiled.asm.get("ttir", ""))  # the types of all values stand in it
        older = OLDER_WITH_FP8 if any(each in kinds for each in FP8) else OLDER
        notes.note(
            f"triton: kernel {compiled.metadata.name} is compiled for sm_{older}: "
            f"for sm_{compiled.metadata.target.arch} it has {found[1]}, which is not supported"
        )
        kept = {key: value for key, value in (options or {}).items() if key not in _OF_ARCHITECTURE}
        return own(src, target=GPUTarget("cuda", older, 32), options=kept, **others)

    return compile
