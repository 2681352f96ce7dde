"""Mistakes in a kernel or its host.py: each ends in one line that says where and what, and leaves nothing behind."""

import importlib.util
import platform
import shutil

import pytest

from simtmm import record
from simtmm.errors import CompilerError, KernelError, RecordingError
from simtmm.kernel import load_kernel
from tests.recorder.build import DEVICE, host
from tests.recorder.conftest import needs_compiler

pytestmark = needs_compiler

RIGHT = "__global__ void f(int* a) { ST(a, 0, 1); }"


@pytest.fixture
def refused(recorded, tmp_path):
    """The line that a recording to a file fails with; neither the file nor a part of one may be left."""

    def make(error, device=RIGHT, **what):
        folder = tmp_path / "traces"
        folder.mkdir(exist_ok=True)
        with pytest.raises(error) as caught:
            recorded(device, output=folder / "t.parquet", **what)
        assert list(folder.iterdir()) == []
        return one_line(caught)

    return make


def one_line(caught):
    text = str(caught.value)
    assert text
    assert "\n" not in text
    return text


def refused_host(folder):
    with pytest.raises(KernelError) as caught:
        record(folder)
    return one_line(caught)


# --- indices ----------------------------------------------------------------------------------------------------------

TWO_ARRAYS = {
    "arrays": '{"a": np.zeros(10, np.int32), "b": np.zeros(20, np.int64)}',
    "arguments": '("a", "b", INDEX)',
    "grid": "3",
    "block": "4",
}


@pytest.mark.parametrize(
    ("access", "index", "array", "size"),
    [
        ("LD(a, i)", -1, "a", 10),
        ("LD(a, i)", 10, "a", 10),
        ("ST(a, i, 0)", 10, "a", 10),
        ("LD_ASYNC(b, i)", 20, "b", 20),
        ("ATOMIC_ADD(a, i, 1)", 1000, "a", 10),
        ("LD(a, i)", 128, "a", 10),  # b[0] lies there
        ("LD(b, i)", -64, "b", 20),  # a[0] lies there
        ("LD(b, i)", 2**40, "b", 20),
        ("LD(a, i)", -(2**62), "a", 10),
        ("LD((char*)a, i)", 40, "a", 40),
        ("LD(b + 5, i - 5)", 20, "b", 20),
        ("LD(b + 5, i - 5)", -1, "b", 20),
    ],
)
def test_an_index_out_of_bounds_is_named_with_its_place_and_array(refused, access, index, array, size):
    device = (
        "\n__global__ void f(int* a, long long* b, long long i)\n{\n    OP(1);\n"
        f"    if (blockIdx.x == 2 && threadIdx.x == 3) {access};\n}}\n"
    )
    text = refused(RecordingError, device, **{**TWO_ARRAYS, "arguments": f'("a", "b", {index})'})
    for part in (
        "launch 0 of f",
        f"kernel.cu:6: site 1 `if (blockIdx.x == 2 && threadIdx.x == 3) {access};`",
        "block 2, thread 3:",
        f"index {index} is out of bounds",
        f"{array} has {size} elements",
    ):
        assert part in text


def test_the_last_element_is_within_bounds_and_the_next_is_not(recorded, refused):
    device = "__global__ void f(int* a, int n) { LD(a, n - 1); LD(a, 0); }"
    recorded(device, arguments='("a", 4)')
    refused(RecordingError, device, arguments='("a", 5)')
    refused(RecordingError, device, arguments='("a", 0)')


def test_an_access_that_only_begins_within_its_array_is_out_of_bounds(refused):
    text = refused(
        RecordingError,
        "__global__ void f(int* a) { LD((double*)a, 1); }",
        arrays='{"a": np.zeros(3, np.int32)}',
    )
    assert "a has 1 elements of this type" in text


@pytest.mark.parametrize("index", [-1, 8, 2**40])
@pytest.mark.parametrize("access", ["LDS(s, i)", "STS(s, i, 1)", "ATOMIC_ADD(s, i, 1)"])
def test_a_shared_index_out_of_bounds_is_named_with_the_declaration(refused, access, index):
    text = refused(
        RecordingError,
        f"__global__ void f(int* a, long long i) {{\n    SHARED(int, s, 8);\n    {access};\n}}",
        arguments=f'("a", {index})',
        local=32,
    )
    for part in ("kernel.cu:4: site 1", "block 0, thread 0:", f"index {index} is out", "`SHARED(int, s, 8);`", "has 8"):
        assert part in text


def test_an_access_to_an_empty_array_is_out_of_bounds(refused):
    refused(
        RecordingError,
        "__global__ void f(int* a) { LD(a, 0); }",
        arrays='{"a": np.zeros(0, np.int32), "b": np.zeros(4, np.int32)}',
    )


@pytest.mark.parametrize("size", [4, 128])
def test_a_pointer_to_the_end_of_an_array_is_counted_from_there(recorded, size):
    recorded(
        f"__global__ void f(int* a) {{ int* end = a + {size}; ST(end, -1, 7); }}",
        arrays=f'{{"a": np.zeros({size}, np.int32), "b": np.zeros(4, np.int32)}}',
        check="assert after['a'][-1] == 7",
    )


def test_a_pointer_to_no_array_is_named(refused):
    text = refused(RecordingError, "__global__ void f(int* a) { int own[4] = {}; ST(a, 0, LD(own, 1)); }")
    assert "site 1" in text
    assert "does not point into a registered array" in text


@pytest.mark.parametrize("call", ["OP(LD(a, 0) - 1)", "JOIN(LD(a, 0) - 1)"])
def test_no_negative_number_of_operations_or_asyncs(refused, call):
    text = refused(RecordingError, f"__global__ void f(int* a) {{ {call}; }}")
    assert "site 0" in text
    assert "not -1" in text


# --- crashes ----------------------------------------------------------------------------------------------------------

CRASHES = {
    "wild pointer": "volatile int* nowhere = (volatile int*)8; *nowhere = LD(a, 0);",
    "wild call": "int own = LD(a, 0); ((void (*)())(long long)(own + 16))();",
    "endless recursion": "ST(a, 0, deeper(a, LD(a, 0)));",
}
if platform.machine() in ("x86_64", "AMD64"):  # other processors divide by zero without a word
    CRASHES["division by zero"] = "ST(a, 0, 100 / LD(a, 0));"
DEEPER = """
__device__ __noinline__ int deeper(int* a, int n) {
    volatile int here[64];
    here[n & 63] = n;
    return deeper(a, n + 1) + here[n & 63];
}
"""


@pytest.mark.parametrize("crash", CRASHES)
def test_a_crash_is_an_error_and_recording_goes_on_after_it(recorded, refused, crash):
    device = (
        DEEPER + f"__global__ void f(int* a, int go) {{\n    OP(1);\n    if (go) {{ {CRASHES[crash]} }}\n    OP(2);\n}}"
    )
    before = recorded(device, arguments='("a", 0)', block="3")
    text = refused(RecordingError, device, arguments='("a", 1)', block="3")
    assert "block 0, thread 0" in text
    assert "crashed" in text
    after = recorded(device, arguments='("a", 0)', block="3")
    assert after.info.digest == before.info.digest


def test_a_crash_between_barriers_is_an_error(recorded, refused):
    device = """__global__ void f(int* a, int go) {
        SYNC();
        if (go && threadIdx.x == 2) *(volatile int*)8 = 1;
        SYNC();
    }"""
    before = recorded(device, arguments='("a", 0)', block="4", grid="2")
    assert "thread 2" in refused(RecordingError, device, arguments='("a", 1)', block="4", grid="2")
    assert recorded(device, arguments='("a", 0)', block="4", grid="2").info.digest == before.info.digest


def test_a_fault_between_barriers_names_its_thread(refused):
    text = refused(RecordingError, "__global__ void f(int* a) { SYNC(); LD(a, threadIdx.x); }", block="9", grid="2")
    assert "block 0, thread 4: index 4 is out of bounds" in text


def test_an_endless_loop_that_records_is_an_error(refused, monkeypatch):
    monkeypatch.setattr("simtmm.recorder.cpu.launches.most_of_a_block", lambda: 1000)
    text = refused(RecordingError, "__global__ void f(int* a) { while (true) ST(a, 0, 1); }")
    assert "site 0" in text
    assert "over 1000 events, the limit for temporary files" in text


# --- wrong answers ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("check", "finding"),
    [
        ("raise WrongAnswer('a[0] is wrong\\nand so on')", "wrong answer: a[0] is wrong"),
        ("assert after['a'][0] == 2, 'not two'", "wrong answer: not two"),
        ("raise AssertionError", "wrong answer: the check failed"),
    ],
)
def test_a_wrong_answer_is_an_error_with_what_the_check_found(refused, check, finding):
    assert refused(RecordingError, check=check) == f"kernel probe: {finding}"


EQUAL = "expect_equal('a', after['a'], np.array([0, 7, 0, 0]))"
NOTHING = "__global__ void f(int* a) {}"
WRITES = """
extern "C" __global__ void f(int* a)
{
    if (threadIdx.x == 1) ST(a, blockIdx.x, 5);
    SYNC();
    if (threadIdx.x == 0) ST(a, blockIdx.x, 6);
}
"""
TWICE = {
    "launches": "for _ in range(2): yield Launch('f', ('a',), grid=2, block=2)",
    "check": "expect_equal('a', after['a'], np.array([6, 7, 0, 0]))",
}


@pytest.mark.parametrize("races", [False, True])
def test_a_wrong_element_is_reported_with_who_wrote_it_last(races, kernel_folder):
    folder = kernel_folder(DEVICE + WRITES, host(**TWICE))
    with pytest.raises(RecordingError) as caught:
        record(folder, races=races)
    where = f"{folder / 'kernel.cu'}:7: site 2 `if (threadIdx.x == 0) ST(a, blockIdx.x, 6);`, block 1, thread 0"
    assert f"a[1] is 6, should be 7 (1 elements are wrong); written last at {where}, launch 1 of f" in str(caught.value)


def test_a_wrong_element_that_nobody_writes_is_reported_so(refused):
    assert "a[1] is 0, should be 7 (1 elements are wrong); no launch writes it; " in refused(
        RecordingError, NOTHING, check=EQUAL
    )


def test_of_a_checks_own_array_nothing_is_reported(refused):
    text = refused(RecordingError, RIGHT, check=EQUAL.replace("after['a']", "after['a'].copy()"))
    assert text.endswith("a[0] is 1, should be 0 (2 elements are wrong)")


def test_a_check_that_fails_itself_is_named_with_its_line(refused):
    text = refused(KernelError, check="after['nobody']")
    line = host(check="after['nobody']").split("\n").index("    after['nobody']") + 1
    assert f"host.py:{line}: check failed: KeyError: 'nobody'" in text


# --- host.py ----------------------------------------------------------------------------------------------------------


def test_a_syntax_error_in_host_py_is_named_with_its_line(kernel_folder):
    text = refused_host(kernel_folder(DEVICE + RIGHT, '"""Docstring."""\n\ndef inputs(p:\n    pass\n'))
    assert "host.py:3: SyntaxError" in text


def test_an_exception_while_host_py_is_loaded_is_named_with_its_line(kernel_folder):
    text = refused_host(kernel_folder(DEVICE + RIGHT, "x = 1\nraise RuntimeError('no\\nway')\n"))
    assert text.endswith("host.py:2: RuntimeError: no")


@pytest.mark.parametrize("function", ["inputs", "launches", "check"])
def test_a_function_that_host_py_lacks_is_named(kernel_folder, function):
    text = refused_host(kernel_folder(DEVICE + RIGHT, host().replace(f"def {function}(", "def other(")))
    assert f"must have a function {function}" in text


def test_host_py_must_have_parameters(kernel_folder):
    text = refused_host(kernel_folder(DEVICE + RIGHT, host().replace("PARAMETERS", "ARGUMENTS")))
    assert "must have a dict PARAMETERS" in text


@pytest.mark.parametrize("file", ["kernel.cu", "host.py"])
def test_a_folder_without_one_of_the_files_is_refused(kernel_folder, file):
    folder = kernel_folder(DEVICE + RIGHT, host())
    (folder / file).unlink()
    assert f"{file} is missing" in refused_host(folder)


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ({"arrays": "1 / 0"}, "inputs failed: ZeroDivisionError: division by zero"),
        ({"arrays": "None"}, "inputs must return a dict of at least one array"),
        ({"arrays": "{}"}, "inputs must return a dict of at least one array"),
        ({"arrays": '{"a": [1, 2]}'}, "'a' must be a numeric NumPy array"),
        ({"arrays": '{"a": np.array([None])}'}, "'a' must be a numeric NumPy array"),
        ({"launches": "yield 'junk'"}, "launches must yield Launch, not 'junk'"),
        ({"launches": "yield None"}, "launches must yield Launch, not None"),
        ({"launches": "raise ValueError('broken')\nyield"}, "launches failed: ValueError: broken"),
        ({"launches": "assert False, 'broken'\nyield"}, "launches failed: AssertionError: broken"),
        ({"launches": "memory['z']\nyield"}, "launches failed: KeyError: 'z'"),
        ({"grid": "0"}, "grid = (0,): must be one to three sizes of at least 1"),
        ({"block": "(1, 1, 1, 1)"}, "block = (1, 1, 1, 1): must be one to three sizes of at least 1"),
        ({"block": "2.5"}, "block = (2.5,): must be one to three sizes of at least 1"),
    ],
)
def test_a_mistake_in_host_py_is_named(refused, what, message):
    assert message in refused(KernelError, **what)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("    yield Launch(", "    return Launch(", id="launches returns a Launch"),
        pytest.param("    yield Launch(", "    Launch(", id="launches returns nothing"),
        pytest.param("    return {", "    assert p.n > 99\n    return {", id="inputs asserts"),
        pytest.param('Parameter(4, "a size")', "4", id="a parameter that is none"),
        pytest.param('Parameter(4, "a size")', 'Parameter(True, "x")', id="a parameter of no kind"),
        pytest.param("def check(", "def defines(p):\n    pass\n\n\ndef check(", id="defines returns nothing"),
        pytest.param("def check(", "def defines(p):\n    assert 0\n\n\ndef check(", id="defines asserts"),
        pytest.param('("a",)', "None", id="arguments are none"),
        pytest.param("shared_memory_bytes=0", "shared_memory_bytes=None", id="shared memory is none"),
    ],
)
def test_a_mistake_in_host_py_is_no_exception_of_python(kernel_folder, before, after):
    text = host()
    assert text.count(before) == 1
    refused_host(kernel_folder(DEVICE + RIGHT, text.replace(before, after)))


def test_a_block_of_more_threads_than_can_be_numbered_is_refused(refused):
    refused(KernelError, "__global__ void f(int* a) { OP(1); }", block="(2**16, 2**16)")


TAKES = {"arrays": '{"a": np.zeros(4, np.int32), "b": np.zeros(4, np.int32)}'}


@pytest.mark.parametrize(
    ("signature", "arguments", "message"),
    [
        ("int* a, int n", '("a",)', "takes 2 arguments, but has 1"),
        ("int* a", '("a", 1)', "takes 1 arguments, but has 2"),
        ("int* a", '("nobody",)', "argument 1 = 'nobody': must be the name of an array: a, b"),
        ("int* a", "(5,)", "argument 1 = 5: must be the name of an array: a, b"),
        ("int* a, int n", '("a", 1.5)', "argument 2 = 1.5: must be a whole number (int32)"),
        ("int* a, int n", '("a", "b")', "argument 2 = 'b': must be a number (int32)"),
        ("int* a, int n", '("a", None)', "argument 2 = None: must be a number (int32)"),
        ("int* a, int n", '("a", 2**31)', "argument 2 = 2147483648: does not fit int32"),
        ("int* a, unsigned n", '("a", -1)', "argument 2 = -1: does not fit uint32"),
        ("int* a, unsigned char n", '("a", 256)', "argument 2 = 256: does not fit uint8"),
        ("int* a, long long n", '("a", 2**63)', "argument 2 = 9223372036854775808: does not fit int64"),
        pytest.param("int* a, int n", '("a", float("nan"))', "argument 2 = nan: must be a whole number (int32)"),
        pytest.param("int* a, int n", '("a", float("inf"))', "argument 2 = inf: must be a whole number (int32)"),
        pytest.param("int* a, float x", '("a", 1e300)', "argument 2 = 1e+300: does not fit float32"),
        ("int* a, float4 v", '("a", 1)', "argument 2: structures can't be passed by value"),
    ],
)
def test_an_argument_that_does_not_fit_the_signature_is_named(refused, signature, arguments, message):
    text = refused(KernelError, f"__global__ void f({signature}) {{ OP(1); }}", arguments=arguments, **TAKES)
    assert f"launch 0 of f: {message}" in text


def test_an_unknown_kernel_function_is_named_beside_those_there_are(refused):
    text = refused(
        KernelError,
        RIGHT + "\n__global__ void g(int* a) {}",
        launches='yield Launch("h", ("a",), grid=1, block=1)',
    )
    assert "launch 0 of h" in text
    assert "no such __global__ function; it has f, g" in text


def test_local_arrays_beyond_what_the_launch_says_are_refused(recorded, refused):
    device = "__global__ void f(int* a) { SHARED(int, s, 8); SHARED(double, t, 2); STS(s, 0, 1); STS(t, 0, 1); }"
    recorded(device, local=48)
    text = refused(KernelError, device, local=47)
    assert "shared_memory_bytes = 47: its SHARED arrays take 48 bytes a block" in text


def test_a_later_launch_that_fails_leaves_nothing_of_the_earlier_ones(refused):
    text = refused(
        RecordingError,
        "__global__ void f(int* a, int i) { ST(a, i, 1); }",
        launches='for i in (0, 1, 9): yield Launch("f", ("a", i), grid=1, block=1)',
    )
    assert "launch 2 of f" in text


def test_a_failed_recording_leaves_the_file_that_was_there(recorded, tmp_path):
    path = tmp_path / "t.parquet"
    path.write_bytes(b"what was there")
    with pytest.raises(RecordingError):
        recorded(RIGHT, output=path, check="raise WrongAnswer('no')")
    assert path.read_bytes() == b"what was there"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["probe", "t.parquet"]


def test_an_unknown_recorder_is_named(kernel_folder):
    with pytest.raises(RecordingError, match=r"recorder 'cpus': unknown; did you mean 'cpu'\?"):
        record(kernel_folder(DEVICE + RIGHT, host()), on="cpus")


# --- kernel.cu --------------------------------------------------------------------------------------------------------


def test_device_code_without_a_kernel_is_refused(refused):
    assert "kernel.cu: has no __global__ function" in refused(KernelError, "__device__ void f(int* a) {}")


def test_device_code_that_is_no_text_is_refused(kernel_folder):
    folder = kernel_folder(DEVICE + RIGHT, host())
    (folder / "kernel.cu").write_bytes(b"\xff\xfe__global__")
    assert "kernel.cu: can't be read" in refused_host(folder)


def test_a_complaint_of_the_compiler_names_the_line_of_kernel_cu(refused):
    text = refused(CompilerError, "\n__global__ void f(int* a)\n{\n    ST(a, 0, nowhere);\n}\n")
    assert text.startswith("kernel probe: does not compile: ")
    assert "kernel.cu:5" in text
    assert "nowhere" in text


def test_a_store_through_a_pointer_to_const_does_not_compile(refused):
    assert "does not compile" in refused(CompilerError, "__global__ void f(const int* a) { ST(a, 0, 1); }")


def test_syncthreads_is_to_be_spelled_sync(refused):
    text = refused(CompilerError, "__global__ void f(int* a) { __syncthreads(); }")
    assert "write_SYNC_instead_of_syncthreads" in text


def test_shared_memory_is_to_be_declared_by_shared(refused):
    text = refused(CompilerError, "__global__ void f(int* a) {\n    __shared__ int s[4];\n    s[0] = 1;\n}")
    assert "shared memory is declared by SHARED(type, name, count)" in text


# --- compilers --------------------------------------------------------------------------------------------------------


def test_a_compiler_in_cxx_that_is_not_there_is_named(refused, monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler -O1")
    assert refused(CompilerError) == "CXX = 'no-such-compiler -O1': no such command"


def test_without_any_compiler_the_line_says_what_to_install(kernel_folder, monkeypatch):
    monkeypatch.delenv("CXX", raising=False)
    kernel = load_kernel(kernel_folder(DEVICE + RIGHT, host()))
    monkeypatch.setattr(shutil, "which", lambda *_: None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda *_: None)
    with pytest.raises(CompilerError) as caught:
        record(kernel)
    assert "install g++ or clang++, or `pip install ziglang`" in one_line(caught)


def test_a_compiler_that_can_not_be_run_is_named(refused, tmp_path, monkeypatch):
    (tmp_path / "c++").write_bytes(b"\0")
    (tmp_path / "c++").chmod(0o755)
    monkeypatch.setenv("CXX", str(tmp_path / "c++"))
    assert "can't be run" in refused(CompilerError)
