"""C functions that stand for libraries that are not here: handles can be made and set up; what computes refuses."""

import re
from collections.abc import Sequence

# A handle has room for what is set: its stream, and three modes.
_HEAD = """
#include <stdlib.h>
enum { STREAM, POINTER_MODE, MATH_MODE, ATOMICS_MODE, VALUES };
int cudaRuntimeGetVersion(int *);
void simtmm_refuse(const char *);
static int plans;
static int made(void ***handle) { if (handle) *handle = calloc(VALUES, sizeof(void *)); return handle && !*handle; }
static int set(void **handle, int value, void *to) { if (handle) handle[value] = to; return !handle; }
static int version(void) { int found = 0; cudaRuntimeGetVersion(&found); return 10 * found; }
"""
_MODES = {"Stream": "STREAM", "PointerMode": "POINTER_MODE", "MathMode": "MATH_MODE", "AtomicsMode": "ATOMICS_MODE"}
_SETTING = (
    r"(?:Stream|Mode|Workspace|WorkArea|AutoAllocation|Seed|Offset|Ordering|Dimensions|Attribute|SmCountTarget|"
    r"MatType|MatIndexBase|MatFillMode|MatDiagType|MathType|GroupCount|Descriptor(?:Ex|_v\d+)?)(?:_v2)?"
)

# A pattern of names, and the function's definition; the first that fits counts. What fits none computes.
_STUBS: Sequence[tuple[str, str]] = (
    (r"cublasSet(?P<what>Stream|PointerMode|MathMode|AtomicsMode)(?:_v2)?",
     "int {name}(void **handle, void *to) {{ return set(handle, {slot}, to); }}"),
    (r"cublasGetStream(?:_v2)?",
     "int {name}(void **handle, void **to) {{ *to = handle[STREAM]; return 0; }}"),
    (r"cublasGet(?P<what>PointerMode|MathMode|AtomicsMode)(?:_v2)?",
     "int {name}(void **handle, int *to) {{ *to = (int)(size_t)handle[{slot}]; return 0; }}"),
    (r"(?:cublas|cusparse)GetVersion(?:_v2)?",
     "int {name}(void **handle, int *to) {{ *to = version(); return 0; }}"),
    (r"(?:cufft|curand|cusolver)GetVersion",
     "int {name}(int *to) {{ *to = version(); return 0; }}"),
    (r"(?:cublasLt|cudnn)GetVersion",
     "size_t {name}(void) {{ return version(); }}"),
    (r"(?:cublas|cublasLt|cusparse|cudnn)Get(?:StatusString|StatusName|ErrorString|ErrorName)",
     'const char *{name}(int status) {{ return status ? "a status of a library that is not here" : "success"; }}'),
    (r"cufft(?:Create|Plan1d|Plan2d|Plan3d|PlanMany)",  # whose handles are numbers
     "int {name}(int *plan) {{ *plan = ++plans; return 0; }}"),
    (r"cufft(?:Destroy|SetStream|SetWorkArea|SetAutoAllocation)",
     "int {name}(int plan) {{ return !plan; }}"),
    (r"(?:cublas|cublasLt|curand|cusparse|cusolver|cudnn)(?!Backend)\w*Create(?:Const)?\w*",
     "int {name}(void ***handle) {{ return made(handle); }}"),
    (r"(?:cublas|cublasLt|curand|cusparse|cusolver|cudnn)(?!Backend)\w*Destroy\w*",
     "int {name}(void **handle) {{ free(handle); return 0; }}"),
    (rf"(?:cublas|cublasLt|curand|cusparse|cusolver|cudnn)(?!Backend)\w*Set\w*{_SETTING}",
     "int {name}(void **handle) {{ return !handle; }}"),
)  # fmt: skip


def library_stubs(names: Sequence[str], libraries: Sequence[str]) -> str:
    """C code that defines functions of libraries that are not here.

    names: of the functions. libraries: the library of each. A function that makes or sets up a handle does so; each
    other one ends the program, and is named.
    """
    return _HEAD + "".join(f"{_stub(name, library)}\n" for name, library in zip(names, libraries, strict=True))


def _stub(name: str, library: str) -> str:
    for pattern, definition in _STUBS:
        if found := re.fullmatch(pattern, name):
            return definition.format(name=name, slot=_MODES.get(found.groupdict().get("what") or "", ""))
    return f'int {name}(void) {{ simtmm_refuse("{name}, of {library}"); return 1; }}'
