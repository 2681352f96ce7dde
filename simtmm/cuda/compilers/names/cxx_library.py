"""The host's C++ library asked for a readable name; as a program, of the name on standard input.

It imports nothing of simtmm, so that the program begins at once.
"""

import ctypes
import sys
from functools import cache

LIBRARIES = ("libstdc++.so.6", "libc++abi.so.1", "libc++.so.1", "libc++.1.dylib")


def readable(name: bytes) -> bytes:
    """What the host's library makes of a mangled name; nothing where there is none, or it refuses."""
    function = _demangle()
    if function is None:
        return b""
    status = ctypes.c_int()
    found = function(name, None, None, ctypes.byref(status))
    if not found:
        return b""
    try:
        return ctypes.string_at(found)
    finally:
        ctypes.CDLL(None).free(ctypes.c_void_p(found))


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


if __name__ == "__main__":
    sys.stdout.buffer.write(readable(sys.stdin.buffer.read())[: int(sys.argv[1])])
