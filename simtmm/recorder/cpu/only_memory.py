"""Whether a build's kernels see nothing but memory: then one that comes back to a state does so for ever.

What else a kernel could see, a clock, a file, another thread of the host, needs functions of libraries, which a
build names in its table of dynamic symbols, or by instructions that stand as such in its source. So all functions that
are in the table must be known, and no word of the source may stand for such an instruction. Where in doubt, no.
"""

import re
import struct
from pathlib import Path

from simtmm.kernel import Kernel
from simtmm.recorder.sites import read_source

# What process_cpu.cuh calls itself, and what gives values by its arguments and memory alone.
_OF_RECORDER = """
    __cxa_finalize __errno_location __gmon_start__ __libc_start_main __stack_chk_fail _Exit _exit
    _ITM_deregisterTMCloneTable _ITM_registerTMCloneTable atoi atol fflush ftruncate getppid lseek mmap mprotect
    openat read setitimer setrlimit sigaction sigaltstack snprintf stdout strtol strtoll strtoul strtoull write
"""
_OF_EXCEPTIONS = """
    _Unwind_Resume __cxa_allocate_exception __cxa_begin_catch __cxa_end_catch __cxa_free_exception __cxa_rethrow
    __cxa_throw __gxx_personality_v0 _ZTIi _ZTISt9exception _ZTVN10__cxxabiv117__class_type_infoE _ZSt9terminatev
    _ZTVN10__cxxabiv120__si_class_type_infoE
"""
_OF_MEMORY = """
    malloc calloc realloc free memcpy memmove memset memcmp memchr strlen strcmp strncmp strstr strchr __memcpy_chk
    __memmove_chk __memset_chk __snprintf_chk _Znwm _ZdlPv _ZdlPvm abort
"""
_OF_NUMBERS = """
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma fmax
    fmin fmod frexp hypot ilogb j0 j1 jn ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround modf
    nearbyint nextafter pow remainder rint round scalbln scalbn sin sincos sinh sqrt tan tanh tgamma trunc y0 y1 yn
"""
_KNOWN = frozenset(
    f"{_OF_RECORDER} {_OF_EXCEPTIONS} {_OF_MEMORY} {_OF_NUMBERS}".split()
    + [f"{name}{letter}" for name in _OF_NUMBERS.split() for letter in "fl"]
)

# Instructions that look elsewhere, files and signals that the recorder's own functions could serve for, and words made
# of pieces.
_FOREIGN = re.compile(
    r"asm|rdtsc|rdpmc|rdrand|rdseed|_rdr|_rds|readcyclecounter|__builtin_(?!expect|popcount|clz|ctz|ffs|mem|unreachable)"
    r"|intrin|cpuid|\b(?:getppid|openat|l?seek|mmap|mprotect|read|setitimer|sigaction|sigaltstack|errno)\b|##|%:"
)

_DYNAMIC_SYMBOLS, _ENTRY = 11, struct.Struct("<IBBHQQ")  # a section's type; a symbol
_HEADER, _SECTION = struct.Struct("<16sHHIQQQIHHHHHH"), struct.Struct("<IIQQQQIIQQ")


def sees_only_memory(kernel: Kernel, program: Path) -> bool:
    """Whether all kernels of a build are decided by memory alone."""
    source = read_source(kernel)
    if any(_FOREIGN.search(text) for text in (source.text, *source.system)):
        return False
    names = _taken_from_libraries(program.read_bytes())
    return bool(names) and names <= _KNOWN


def _taken_from_libraries(program: bytes) -> set[str]:
    """The names that a program takes from libraries; none where it is no ELF of 64 bits, or linked with none."""
    try:
        ident, *_, table, _, _, _, _, width, count, _ = _HEADER.unpack_from(program)
        if ident[:6] != b"\x7fELF\x02\x01" or width != _SECTION.size:
            return set()
        sections = [_SECTION.unpack_from(program, table + width * number) for number in range(count)]
        found: set[str] = set()
        for _, kind, _, _, offset, size, link, *_ in sections:
            if kind != _DYNAMIC_SYMBOLS:
                continue
            texts = sections[link][4]
            for name, _, _, section, *_ in _ENTRY.iter_unpack(program[offset : offset + size]):
                if name and section == 0:
                    begin = texts + name
                    found.add(program[begin : program.index(b"\0", begin)].decode())
        return found
    except (struct.error, IndexError, ValueError):
        return set()
