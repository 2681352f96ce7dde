"""Names of kernels as people write them, from those in PTX."""

import ctypes
import re
from functools import cache

LIBRARIES = ("libstdc++.so.6", "libc++abi.so.1", "libc++.so.1", "libc++.1.dylib")


def demangled(name: str) -> str:
    """A kernel's name and parameters in C++, "void saxpy<float>(int, float*)"; the name itself where it is in C.

    Where the host has no C++ library to ask, the bare name alone: "saxpy".
    """
    if not name.startswith("_Z"):
        return name
    function = _demangle()
    if function is not None:
        status = ctypes.c_int()
        found = function(name.encode(), None, None, ctypes.byref(status))
        if found:
            try:
                return ctypes.string_at(found).decode("utf-8", "replace")
            finally:
                ctypes.CDLL(None).free(ctypes.c_void_p(found))
    return bare_name(name)


def bare_name(name: str) -> str:
    """A kernel's name without its namespaces, parameters and template arguments: "saxpy"."""
    rest = name.removeprefix("_ZN").removeprefix("_Z") if name.startswith("_Z") else ""
    found = name
    while sized := re.match(r"(\d+)", rest):
        start = sized.end()
        end = start + int(sized[1])
        found, rest = rest[start:end], rest[end:]
        if not name.startswith("_ZN"):
            break
    return found


@cache
def _demangle() -> "ctypes._NamedFuncPointer | None":
    for library in LIBRARIES:
        try:
            function = ctypes.CDLL(library).__cxa_demangle
        except (OSError, AttributeError):
            continue
        function.restype = ctypes.c_void_p
        function.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int)]
        return function
    return None
