"""Libraries that are not here: their handles are made and set up as their headers say, and the rest is refused."""

import ctypes
import subprocess

import pytest

from simtmm.cuda.compilers.wheels import find_host_compiler
from simtmm.errors import CompilerError
from simtmm.programs.building.library_stubs import library_stubs

ADDED = """
static const char *refused = "";
int cudaRuntimeGetVersion(int *to) { *to = 13020; return 0; }
void simtmm_refuse(const char *what) { refused = what; }
const char *what_was_refused(void) { return refused; }
"""
MAKE = (
    "cublasCreate_v2", "cublasLtMatmulDescCreate", "curandCreateGenerator", "cusparseCreateMatDescr",
    "cusparseCreateConstCsr", "cusolverDnCreate", "cudnnCreateTensorDescriptor",
)  # fmt: skip
SET_UP = (
    "cublasSetWorkspace_v2", "curandSetPseudoRandomGeneratorSeed", "cusparseSetMatIndexBase", "cusolverDnSetStream",
    "cudnnSetTensor4dDescriptor", "cudnnSetConvolutionMathType", "cublasLtMatmulDescSetAttribute",
)  # fmt: skip
COMPUTE = (
    "cublasSgemm_v2", "cublasSetVector", "cublasGetMatrix", "cufftExecC2C", "curandGenerateUniform", "cusparseSpMV",
    "cusparseSpMV_bufferSize", "cusolverDnSgetrf", "cudnnSetTensor", "cudnnBackendCreateDescriptor",
)  # fmt: skip
OTHERS = (
    "cublasSetStream_v2", "cublasGetStream_v2", "cublasSetPointerMode_v2", "cublasGetPointerMode_v2",
    "cublasSetMathMode", "cublasGetMathMode", "cublasGetVersion_v2", "cufftGetVersion", "cudnnGetVersion",
    "cublasGetStatusString", "cublasDestroy_v2", "cufftPlan1d", "cufftPlanMany", "cufftSetStream", "cufftDestroy",
)  # fmt: skip


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    names = [*MAKE, *SET_UP, *COMPUTE, *OTHERS]
    try:
        host = find_host_compiler()
    except CompilerError as error:
        pytest.skip(str(error))
    folder = tmp_path_factory.mktemp("stubs")
    (folder / "stubs.c").write_text(library_stubs(names, ["a library"] * len(names)) + ADDED)
    words = [
        host,
        "-shared",
        "-fPIC",
        "-Wl,-Bsymbolic",
        "-x",
        "c",
        str(folder / "stubs.c"),
        "-o",
        str(folder / "stubs.so"),
    ]
    subprocess.run(words, check=True, capture_output=True)
    loaded = ctypes.CDLL(str(folder / "stubs.so"))
    loaded.what_was_refused.restype = loaded.cublasGetStatusString.restype = ctypes.c_char_p
    loaded.cudnnGetVersion.restype = ctypes.c_size_t
    return loaded


@pytest.mark.parametrize("name", MAKE)
def test_handles_are_made_each_another(library, name):
    handles = [ctypes.c_void_p(), ctypes.c_void_p()]
    assert [getattr(library, name)(ctypes.byref(handle)) for handle in handles] == [0, 0]
    assert None not in {each.value for each in handles}
    assert handles[0].value != handles[1].value


@pytest.mark.parametrize("name", SET_UP)
def test_handles_are_set_up_and_none_is_no_handle(library, name):
    handle = ctypes.c_void_p()
    library.cublasCreate_v2(ctypes.byref(handle))
    assert getattr(library, name)(handle) == 0
    assert getattr(library, name)(None) != 0


@pytest.mark.parametrize("name", COMPUTE)
def test_what_computes_is_refused_and_named(library, name):
    assert getattr(library, name)() != 0
    assert library.what_was_refused().decode() == f"{name}, of a library"


def test_a_handle_keeps_what_is_set(library):
    handle, stream = ctypes.c_void_p(), ctypes.c_void_p()
    pointer, math = ctypes.c_int(7), ctypes.c_int(7)
    library.cublasCreate_v2(ctypes.byref(handle))
    library.cublasSetStream_v2(handle, ctypes.c_void_p(0x1234))
    library.cublasSetPointerMode_v2(handle, 1)
    assert library.cublasGetStream_v2(handle, ctypes.byref(stream)) == 0
    assert library.cublasGetPointerMode_v2(handle, ctypes.byref(pointer)) == 0
    assert library.cublasGetMathMode(handle, ctypes.byref(math)) == 0
    assert (stream.value, pointer.value, math.value) == (0x1234, 1, 0)
    assert library.cublasDestroy_v2(handle) == 0


def test_plans_are_numbers_of_four_bytes(library):
    words = (ctypes.c_int * 2)(0, -1)
    assert library.cufftPlan1d(words, 256, 0x29, 1) == 0
    first = words[0]
    assert library.cufftPlanMany(words) == 0
    assert words[0] not in (0, first)
    assert words[1] == -1  # the word behind it
    assert (library.cufftSetStream(first, None), library.cufftDestroy(first)) == (0, 0)


def test_versions_are_the_runtimes_and_statuses_have_words(library):
    found = [ctypes.c_int(), ctypes.c_int()]
    library.cublasGetVersion_v2(None, ctypes.byref(found[0]))
    library.cufftGetVersion(ctypes.byref(found[1]))
    assert [each.value for each in found] + [library.cudnnGetVersion()] == [130200] * 3
    assert library.cublasGetStatusString(0) == b"success"
    assert library.cublasGetStatusString(1) != b"success"
