"""The environment of a child process: only the variables that compilers and their wrappers read."""

import os
from collections.abc import Mapping

PASSED = "SIMTMM_PASS_VARIABLES"  # names of further variables, between commas
_NAMES = frozenset({
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "TMPDIR", "TMP", "TEMP", "LANG", "LANGUAGE", "TZ",
    "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX",
    "LD_LIBRARY_PATH", "LD_PRELOAD", "LD_RUN_PATH", "SOURCE_DATE_EPOCH", "SDKROOT", "DEVELOPER_DIR",
    "LM_LICENSE_FILE", "INTEL_LICENSE_FILE", "VIRTUAL_ENV", "PYTHONHOME", "PYTHONPATH", "PYTHONUSERBASE",
})  # fmt: skip
_PREFIXES = (
    "LC_", "XDG_", "DYLD_", "CUDA", "NVCC_", "NVRTC_", "NVIDIA_", "CCACHE_", "SCCACHE_", "DISTCC_", "ICECC", "ZIG_",
    "NIX_", "CONDA_", "MACOSX_",
)  # fmt: skip
_ADDED_BY_NVCC = ("NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS")  # to the words that we give it


def of_tools(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """What a compiler or another tool gets of our environment. more: variables beside them."""
    named = {name.strip() for name in os.environ.get(PASSED, "").split(",")}
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in named or ((name in _NAMES or name.startswith(_PREFIXES)) and name not in _ADDED_BY_NVCC)
    }
    return {**kept, **(more or {})}
