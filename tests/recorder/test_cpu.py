"""Recording on the CPU: each thread's events, exactly."""

import errno

import pyarrow.parquet as pq
import pytest

from simtmm import load_trace, record
from simtmm.errors import KernelError, OutputError
from tests.recorder.build import DEVICE, events, host, of_one_thread, rows
from tests.recorder.conftest import needs_compiler
from tests.trace.rows import write_rows

pytestmark = needs_compiler

BASE = 512  # the first array's virtual address
INDEX = """
__device__ int block_number() { return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z); }
__device__ int thread_number() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
"""


# --- global memory ----------------------------------------------------------------------------------------------------


def test_a_load_records_its_address_and_width_and_gives_the_element(recorded):
    trace = recorded(
        "__global__ void f(const double* a, double* b) { ST(b, 0, LD(a, 2)); }",
        arrays='{"a": np.arange(4.0) + 10, "b": np.zeros(1)}',
        arguments='("a", "b")',
        check="assert after['b'][0] == 12.0",
    )
    assert of_one_thread(trace) == [(1, "load", BASE + 2 * 8, 8), (0, "store", 2 * BASE, 8)]


@pytest.mark.parametrize(
    ("kind", "dtype", "size"),
    [("char", "np.int8", 1), ("short", "np.int16", 2), ("float", "np.float32", 4), ("long long", "np.int64", 8)],
)
def test_an_access_moves_the_bytes_of_its_type(recorded, kind, dtype, size):
    trace = recorded(
        f"__global__ void f({kind}* a) {{ ST(a, 3, ({kind})7); }}",
        arrays=f'{{"a": np.zeros(4, {dtype})}}',
        check="assert after['a'].tolist() == [0, 0, 0, 7]",
    )
    assert of_one_thread(trace) == [(0, "store", BASE + 3 * size, size)]


def test_a_vector_access_is_one_event_of_sixteen_bytes(recorded):
    trace = recorded(
        "__global__ void f(int4* a) { int4 v = LD(a, 1); ST(a, 0, make_int4(v.w, v.z, v.y, v.x)); }",
        arrays='{"a": np.arange(8, dtype=np.int32)}',
        check="assert after['a'].tolist() == [7, 6, 5, 4, 4, 5, 6, 7]",
    )
    assert of_one_thread(trace) == [(0, "load", BASE + 16, 16), (1, "store", BASE, 16)]


def test_a_vector_of_unsigned_numbers_is_one_access_too(recorded):
    trace = recorded(
        "__global__ void f(uint4* a) { uint4 v = LD(a, 1); ST(a, 0, make_uint4(v.w, v.z, v.y, v.x)); }",
        arrays='{"a": np.arange(8, dtype=np.uint32)}',
        check="assert after['a'].tolist() == [7, 6, 5, 4, 4, 5, 6, 7]",
    )
    assert of_one_thread(trace) == [(0, "load", BASE + 16, 16), (1, "store", BASE, 16)]


@pytest.mark.parametrize(
    ("kind", "dtype"), [("float", "float64"), ("float", "int32"), ("int", "int64"), ("short", "float16")]
)
def test_an_array_of_other_numbers_than_the_kernel_takes_is_refused(recorded, kind, dtype):
    with pytest.raises(KernelError, match=f"argument 1, a = an array of {dtype}: the kernel takes one of"):
        recorded(f"__global__ void f({kind}* a) {{ ST(a, 0, 1); }}", arrays=f'{{"a": np.zeros(4, np.{dtype})}}')


@pytest.mark.parametrize(("kind", "dtype"), [("float", "uint8"), ("unsigned", "int32"), ("void", "float32")])
def test_bytes_may_be_anything_and_signs_do_not_matter(recorded, kind, dtype):
    assert recorded(
        f"__global__ void f({kind}* a) {{ ST((char*)a, 0, 1); }}", arrays=f'{{"a": np.zeros(4, np.{dtype})}}'
    )


def test_a_pointer_into_the_middle_of_an_array_is_counted_from_there(recorded):
    trace = recorded("__global__ void f(int* a) { int* middle = a + 2; ST(middle, -1, 5); }")
    assert of_one_thread(trace) == [(0, "store", BASE + 4, 4)]


def test_loads_in_flight_are_joined_by_how_many_are_left_out(recorded):
    trace = recorded(
        """__global__ void f(int* a) {
            int x = LD_ASYNC(a, 0), y = LD_ASYNC(a, 1);
            JOIN(1);
            JOIN();
            ST(a, 2, x + y);
        }""",
        arrays='{"a": np.array([3, 4, 0, 0], np.int32)}',
        check="assert after['a'][2] == 7",
    )
    assert of_one_thread(trace) == [
        (0, "async", BASE, 4),
        (1, "async", BASE + 4, 4),
        (2, "join", 1, 0),
        (3, "join", 0, 0),
        (4, "store", BASE + 8, 4),
    ]


def test_work_records_how_many_operations_and_none_is_no_event(recorded):
    trace = recorded("__global__ void f(int* a) { OP(3); OP(0); OP(5000000000LL); }")
    assert of_one_thread(trace) == [(0, "work", 3, 0), (2, "work", 5_000_000_000, 0)]


def test_arrays_lie_in_order_of_registration_at_multiples_of_512_from_512(recorded):
    trace = recorded(
        "__global__ void f(char* z, char* a, char* m) { ST(m, 0, 1); ST(z, 0, 1); ST(a, 512, 1); }",
        arrays='{"z": np.zeros(1, np.int8), "a": np.zeros(513, np.int8), "m": np.zeros(2, np.int8)}',
        arguments='("z", "a", "m")',
    )
    assert [(array.name, array.base, array.bytes) for array in trace.info.arrays] == [
        ("z", 512, 1),
        ("a", 1024, 513),
        ("m", 2048, 2),
    ]
    assert [value for _, _, value, _ in of_one_thread(trace)] == [2048, 512, 1536]


# --- atomics ----------------------------------------------------------------------------------------------------------

ATOMICS = [  # update, before, operands, after
    ("ADD", 5, "3", 8),
    ("ADD", 5, "-7", -2),
    ("MIN", 5, "3", 3),
    ("MIN", -5, "3", -5),
    ("MAX", 5, "9", 9),
    ("MAX", 5, "-9", 5),
    ("AND", 0b1100, "0b1010", 0b1000),
    ("OR", 0b1100, "0b1010", 0b1110),
    ("XOR", 0b1100, "0b1010", 0b0110),
    ("EXCH", 5, "9", 9),
    ("CAS", 5, "5, 9", 9),
    ("CAS", 5, "6, 9", 5),
]


def test_atomics_on_global_memory_update_it_and_give_the_old_value(recorded):
    body = "".join(f"ST(old, {i}, ATOMIC_{name}(a, {i}, {value}));\n" for i, (name, _, value, _) in enumerate(ATOMICS))
    before, after = [row[1] for row in ATOMICS], [row[3] for row in ATOMICS]
    trace = recorded(
        f"__global__ void f(int* a, int* old) {{\n{body}}}",
        arrays=f'{{"a": np.array({before}, np.int32), "old": np.zeros({len(before)}, np.int32)}}',
        arguments='("a", "old")',
        check=f"assert after['old'].tolist() == {before}\nassert after['a'].tolist() == {after}",
    )
    assert of_one_thread(trace) == [
        event
        for i in range(len(ATOMICS))
        for event in ((2 * i + 1, "atomic", BASE + 4 * i, 4), (2 * i, "store", 2 * BASE + 4 * i, 4))
    ]


def test_atomics_on_shared_memory_update_it_and_give_the_old_value(recorded):
    body = "".join(
        f"STS(s, {i}, {before}); ST(old, {i}, ATOMIC_{name}(s, {i}, {value})); ST(a, {i}, LDS(s, {i}));\n"
        for i, (name, before, value, _) in enumerate(ATOMICS)
    )
    before, after = [row[1] for row in ATOMICS], [row[3] for row in ATOMICS]
    trace = recorded(
        f"__global__ void f(int* a, int* old) {{ SHARED(int, s, {len(before)});\n{body}}}",
        arrays=f'{{"a": np.zeros({len(before)}, np.int32), "old": np.zeros({len(before)}, np.int32)}}',
        arguments='("a", "old")',
        local=4 * len(before),
        check=f"assert after['old'].tolist() == {before}\nassert after['a'].tolist() == {after}",
    )
    updates = [event for event in of_one_thread(trace) if event[1] == "shared_atomic"]
    assert updates == [(5 * i + 3, "shared_atomic", 4 * i, 4) for i in range(len(ATOMICS))]


def test_unsigned_atomics_compare_as_unsigned(recorded):
    recorded(
        "__global__ void f(unsigned* a) { ATOMIC_MAX(a, 0, 0xffffffffu); ATOMIC_MIN(a, 1, 0xffffffffu); }",
        arrays='{"a": np.array([1, 1], np.uint32)}',
        check="assert after['a'].tolist() == [2**32 - 1, 1]",
    )


def test_atomics_of_all_threads_add_up(recorded):
    trace = recorded(
        "__global__ void f(int* a) { ATOMIC_ADD(a, 0, 1); }",
        grid="3",
        block="50",
        check="assert after['a'][0] == 150",
    )
    assert trace.info.events == 150


# --- shared memory ----------------------------------------------------------------------------------------------------


def test_a_shared_access_names_its_arrays_declaration_and_the_offset(recorded):
    trace = recorded(
        """__global__ void f(int* a) {
            SHARED(double, first, 4);
            SHARED(short, second, 8);
            STS(second, 3, 7);
            STS(first, 1, 2.5);
            ST(a, 0, LDS(second, 3) + (int)LDS(first, 1));
        }""",
        local=48,
        check="assert after['a'][0] == 9",
    )
    assert sorted(of_one_thread(trace)[2:4]) == [  # the operands of + may be evaluated in either order
        (5, "shared_load", 1 << 32 | 6, 2),
        (6, "shared_load", 0 << 32 | 8, 8),
    ]
    assert of_one_thread(trace)[:2] == [
        (2, "shared_store", 1 << 32 | 6, 2),
        (3, "shared_store", 0 << 32 | 8, 8),
    ]
    assert [site.kind for site in trace.info.sites[:2]] == ["shared_array"] * 2


def test_shared_memory_carries_nothing_from_block_to_block(recorded):
    recorded(
        """__global__ void f(unsigned* a) {
            SHARED(unsigned, s, 1);
            ST(a, blockIdx.x, LDS(s, 0));
            STS(s, 0, 42u);
        }""",
        arrays='{"a": np.zeros(3, np.uint32)}',
        grid="3",
        local=4,
        check="assert after['a'].tolist() == [0xCDCDCDCD] * 3",
    )


def test_shared_memory_carries_nothing_from_launch_to_launch(recorded):
    recorded(
        """__global__ void f(unsigned* a, int i) {
            SHARED(unsigned, s, 1);
            ST(a, i, LDS(s, 0));
            STS(s, 0, 42u);
        }""",
        arrays='{"a": np.zeros(2, np.uint32)}',
        launches='for i in range(2): yield Launch("f", ("a", i), grid=1, block=1, shared_memory_bytes=4)',
        check="assert after['a'].tolist() == [0xCDCDCDCD] * 2",
    )


def test_local_arrays_of_a_templates_instances_carry_nothing_over_either(recorded):
    recorded(
        """
        template <int SIZE> __device__ void leave(unsigned* a) {
            SHARED(unsigned, s, SIZE);
            ST(a, SIZE, LDS(s, 0));
            STS(s, 0, 42u);
        }
        __global__ void f(unsigned* a) { leave<1>(a); leave<2>(a); }""",
        arrays='{"a": np.zeros(3, np.uint32)}',
        grid="2",
        local=12,
        check="assert after['a'].tolist() == [0, 0xCDCDCDCD, 0xCDCDCDCD]",
    )


def test_threads_of_a_block_share_its_shared_memory(recorded):
    recorded(
        """__global__ void f(int* a) {
            SHARED(int, s, 4);
            STS(s, threadIdx.x, blockIdx.x * 10 + threadIdx.x);
            SYNC();
            ST(a, blockIdx.x * 4 + threadIdx.x, LDS(s, 3 - threadIdx.x));
        }""",
        arrays='{"a": np.zeros(8, np.int32)}',
        grid="2",
        block="4",
        local=16,
        check="assert after['a'].tolist() == [3, 2, 1, 0, 13, 12, 11, 10]",
    )


# --- sites ------------------------------------------------------------------------------------------------------------


def test_a_load_within_a_store_has_the_later_site_and_the_earlier_event(recorded):
    trace = recorded("__global__ void f(int* a) { ST(a, LD(a, 3), 9); }", check="assert after['a'][0] == 9")
    assert of_one_thread(trace) == [(1, "load", BASE + 12, 4), (0, "store", BASE, 4)]


def test_a_load_within_an_atomic_comes_before_it(recorded):
    trace = recorded("__global__ void f(int* a) { ATOMIC_ADD(a, 0, LD(a, 3)); }")
    assert of_one_thread(trace) == [(1, "load", BASE + 12, 4), (0, "atomic", BASE, 4)]


def test_the_index_of_an_atomic_may_be_a_load(recorded):
    trace = recorded(
        "__global__ void f(const int* key, int* bins) { ATOMIC_ADD(bins, LD(key, threadIdx.x), 1); }",
        arrays='{"key": np.array([2, 0, 2], np.int32), "bins": np.zeros(3, np.int32)}',
        arguments='("key", "bins")',
        block="3",
        check="assert after['bins'].tolist() == [1, 0, 2]",
    )
    assert [event[2:4] for event in events(trace)] == [(1, "load"), (0, "atomic")] * 3


def test_a_macro_of_the_kernels_own_is_one_site_however_often_used(recorded):
    trace = recorded(
        """
        #define NEXT(i) LD(a, (i) + 1)
        __global__ void f(int* a) { int x = NEXT(0); x += NEXT(2); OP(1); }"""
    )
    assert of_one_thread(trace) == [(0, "load", BASE + 4, 4), (0, "load", BASE + 12, 4), (1, "work", 1, 0)]


def test_device_functions_and_templates_record_at_their_own_sites(recorded):
    trace = recorded(
        """
        __device__ int get(const int* a, int i) { return LD(a, i); }
        template <class T> __device__ void put(T* a, int i, T v) { ST(a, i, v); }
        __global__ void f(int* a) { int x = get(a, 1); put(a, 2, x); put(a, 3, get(a, 2)); }"""
    )
    assert of_one_thread(trace) == [
        (0, "load", BASE + 4, 4),
        (1, "store", BASE + 8, 4),
        (0, "load", BASE + 8, 4),
        (1, "store", BASE + 12, 4),
    ]


def test_the_site_table_names_the_lines(recorded):
    trace = recorded("__global__ void f(int* a)\n{\n    int x = LD(a, 0);\n    ST(a, 1, x);\n}\n")
    assert [(site.site, site.kind, site.line, site.source) for site in trace.info.sites] == [
        (0, "load", 4, "int x = LD(a, 0);"),
        (1, "store", 5, "ST(a, 1, x);"),
    ]


# --- threads, blocks, barriers ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("grid", "block"), [("3", "5"), ("(2, 3)", "(4, 2)"), ("(2, 3, 2)", "(3, 2, 2)"), ("(1, 1, 3)", "(1, 1, 4)")]
)
def test_blocks_and_threads_are_numbered_with_x_fastest(recorded, grid, block):
    trace = recorded(
        INDEX + "__global__ void f(int* a) { OP(1 + block_number() * 1000 + thread_number()); }",
        grid=grid,
        block=block,
    )
    launch = trace.info.launches[0]
    expected = [(b, t) for b in range(launch.blocks) for t in range(launch.threads_per_block)]
    assert rows(trace, "block", "thread", "value") == [(b, t, 1 + b * 1000 + t) for b, t in expected]


def test_the_dimensions_a_kernel_sees_are_those_of_the_launch(recorded):
    recorded(
        """__global__ void f(int* a) {
            if (threadIdx.x + threadIdx.y + threadIdx.z + blockIdx.x + blockIdx.y + blockIdx.z) return;
            ST(a, 0, gridDim.x); ST(a, 1, gridDim.y); ST(a, 2, gridDim.z);
            ST(a, 3, blockDim.x); ST(a, 4, blockDim.y); ST(a, 5, blockDim.z);
        }""",
        arrays='{"a": np.zeros(6, np.int32)}',
        grid="(2, 3, 4)",
        block="(5, 6, 7)",
        check="assert after['a'].tolist() == [2, 3, 4, 5, 6, 7]",
    )


def test_nobody_passes_a_barrier_before_all_have_reached_it(recorded):
    trace = recorded(
        """__global__ void f(int* a) {
            ST(a, threadIdx.x, threadIdx.x + 1);
            SYNC();
            int x = LD(a, (threadIdx.x + 1) % 4);
            SYNC();
            ST(a, threadIdx.x, x);
        }""",
        block="4",
        check="assert after['a'].tolist() == [2, 3, 4, 1]",
    )
    assert events(trace) == [
        (0, thread, site, kind, value, size)
        for thread in range(4)
        for site, kind, value, size in (
            (0, "store", BASE + 4 * thread, 4),
            (1, "barrier", 0, 0),
            (2, "load", BASE + 4 * ((thread + 1) % 4), 4),
            (3, "barrier", 0, 0),
            (4, "store", BASE + 4 * thread, 4),
        )
    ]


def test_a_thread_that_has_returned_holds_up_no_barrier(recorded):
    trace = recorded(
        """__global__ void f(int* a) {
            if (threadIdx.x == 1) return;
            OP(1);
            SYNC();
            OP(2);
        }""",
        block="3",
    )
    assert rows(trace, "thread", "site") == [(0, 0), (0, 1), (0, 2), (2, 0), (2, 1), (2, 2)]


def test_a_loop_with_barriers_runs_in_step(recorded):
    trace = recorded(
        """__global__ void f(int* a) {
            for (int step = 0; step < 3; ++step) {
                int x = LD(a, (threadIdx.x + 3) % 4);
                SYNC();
                ST(a, threadIdx.x, x);
                SYNC();
            }
        }""",
        arrays='{"a": np.arange(4, dtype=np.int32)}',
        block="4",
        grid="1",
        check="assert after['a'].tolist() == [1, 2, 3, 0]",
    )
    assert rows(trace, "thread", "site") == [(thread, site) for thread in range(4) for site in [0, 1, 2, 3] * 3]


def test_a_thousand_threads_wait_for_one_another_in_every_block(recorded):
    trace = recorded(
        """__global__ void f(int* a) {
            SHARED(int, s, 1024);
            STS(s, threadIdx.x, 1);
            for (int half = 512; half > 0; half /= 2) {
                SYNC();
                if (threadIdx.x < half) STS(s, threadIdx.x, LDS(s, threadIdx.x) + LDS(s, threadIdx.x + half));
            }
            if (threadIdx.x == 0) ST(a, blockIdx.x, LDS(s, 0));
        }""",
        grid="3",
        block="1024",
        local=4096,
        check="assert after['a'].tolist() == [1024, 1024, 1024, 0]",
    )
    assert trace.info.events == 3 * (1024 * 11 + 3 * 1023 + 2)


# --- arguments and launches -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("int", "-(2**31)"),
        ("unsigned", "2**32 - 1"),
        ("long long", "-(2**63)"),
        ("unsigned long long", "2**64 - 1"),
        ("short", "-3"),
        ("unsigned char", "255"),
        ("float", "1.5"),
        ("double", "0.1"),
        ("bool", "True"),
        ("const int", "np.int64(7)"),
    ],
)
def test_a_number_arrives_as_it_was_given(recorded, kind, value):
    dtype = {
        "int": "i4", "unsigned": "u4", "long long": "i8", "unsigned long long": "u8", "short": "i2",
        "unsigned char": "u1", "float": "f4", "double": "f8", "bool": "?", "const int": "i4",
    }[kind]  # fmt: skip
    recorded(
        f"__global__ void f({kind.removeprefix('const ')}* a, char before, {kind} x, char after) {{\n"
        "    if (before == 1 && after == 2) ST(a, 0, x);\n}",
        arrays=f'{{"a": np.zeros(1, "{dtype}")}}',
        arguments=f'("a", 1, {value}, 2)',
        check=f"assert after['a'][0] == {value}",
    )


def test_a_macro_that_host_py_defines_reaches_the_kernel(kernel_folder):
    text = host() + '\n\ndef defines(p):\n    return {"TWICE": 2 * p.n}\n'
    trace = record(kernel_folder(DEVICE + "__global__ void f(int* a) { OP(TWICE); }", text), {"n": 21})
    assert of_one_thread(trace) == [(0, "work", 42, 0)]


@pytest.mark.parametrize("name", ["SIZE", "S", "N", "T", "A", "count", "size", "WORK"])
def test_a_macro_of_the_kernels_own_may_have_a_common_name(recorded, name):
    trace = recorded(f"#define {name} 4\n__global__ void f(int* a) {{ OP({name}); }}")
    assert of_one_thread(trace) == [(0, "work", 4, 0)]


@pytest.mark.parametrize("name", ["SIZE", "N", "S", "WORK", "COUNT"])
def test_a_macro_that_host_py_defines_may_have_a_common_name(kernel_folder, name):
    text = host() + f'\n\ndef defines(p):\n    return {{"{name}": 4}}\n'
    trace = record(kernel_folder(DEVICE + f"__global__ void f(int* a) {{ OP({name}); }}", text))
    assert of_one_thread(trace) == [(0, "work", 4, 0)]


@pytest.mark.parametrize(
    "source",
    [
        "#if 0\n__global__ void g(int* a) { nonsense }\n#endif\n__global__ void f(int* a) { OP(4); }",
        "#define KERNEL(name) __global__ void name(int* a) { OP(4); }\nKERNEL(f)",
        "#include <cstdint>\n__global__ void f(int* a) { OP((uint8_t)260); }",
        "static __forceinline__ __device__ int min(int a, int b, int c) { return min(a, min(b, c)); }\n"
        "__global__ void f(int* a) { OP(min(9, 4, max(7, 8))); }",
    ],
    ids=["switched off", "made by a macro", "a system header", "an overload of min"],
)
def test_what_the_preprocessor_leaves_is_what_is_compiled(recorded, source):
    assert of_one_thread(recorded(source)) == [(0, "work", 4, 0)]


def test_headers_beside_the_kernel_are_read_and_their_sites_numbered(kernel_folder):
    folder = kernel_folder(
        '#include "device.cuh"\n#include "own.cuh"\n#include "own.cuh"\n'
        "__global__ void f(int* a) { ST(a, 0, twice(a)); }",
        host(),
    )
    (folder / "own.cuh").write_text("#pragma once\n\n__device__ int twice(int* a) { return 2 * LD(a, 0); }\n")
    trace = record(folder)
    assert [(site.file, site.line, site.kind) for site in trace.info.sites] == [
        ("own.cuh", 3, "load"),
        ("kernel.cu", 4, "store"),
    ]
    assert [event[:2] for event in of_one_thread(trace)] == [(0, "load"), (1, "store")]


def test_a_file_may_hold_several_kernels(recorded):
    trace = recorded(
        """
        __global__ void f(int* a) { ST(a, 0, 1); }
        extern "C" __global__ void g(int* a, int i) { ST(a, i, LD(a, 0) + 1); }""",
        launches="""
            yield Launch("g", ("a", 1), grid=1, block=1)
            yield Launch("f", ("a",), grid=1, block=1)
            yield Launch("g", ("a", 2), grid=1, block=1)
        """,
        check="assert after['a'].tolist() == [1, 1, 2, 0]",
    )
    assert rows(trace, "launch", "site") == [(0, 2), (0, 1), (1, 0), (2, 2), (2, 1)]
    assert [launch.kernel for launch in trace.info.launches] == ["g", "f", "g"]


@pytest.mark.parametrize("name", ["index", "read", "write", "exit", "div", "sqrt"])
def test_a_kernel_may_be_called_like_a_function_of_the_c_library(recorded, name):
    trace = recorded(
        f'extern "C" __global__ void {name}(int* a) {{ ST(a, 0, 6); }}',
        launches=f'yield Launch("{name}", ("a",), grid=1, block=1)',
        check="assert after['a'][0] == 6",
    )
    assert trace.info.events == 1


def test_a_launch_may_depend_on_what_the_one_before_has_left(recorded):
    trace = recorded(
        "__global__ void f(int* a) { ST(a, 0, LD(a, 0) / 2); }",
        arrays='{"a": np.array([20], np.int32)}',
        launches="""
            while memory["a"][0] > 0:
                yield Launch("f", ("a",), grid=1, block=1)
        """,
    )
    assert len(trace.info.launches) == 5  # 20, 10, 5, 2, 1


def test_host_py_may_write_arrays_between_launches(recorded):
    recorded(
        "__global__ void f(int* a) { ST(a, 1, LD(a, 0)); }",
        launches="""
            memory["a"][0] = 77
            yield Launch("f", ("a",), grid=1, block=1)
        """,
        check="assert after['a'][1] == 77\nassert before['a'].tolist() == [0, 0, 0, 0]",
    )


def test_a_launch_without_events_keeps_its_place(recorded):
    trace = recorded(
        "__global__ void f(int* a, int n) { if (n) OP(n); }",
        launches="""
            for n in (0, 5, 0):
                yield Launch("f", ("a", n), grid=2, block=1)
        """,
    )
    assert rows(trace, "launch", "block", "value") == [(1, 0, 5), (1, 1, 5)]
    assert len(trace.info.launches) == 3


# --- traces -----------------------------------------------------------------------------------------------------------

LOOP = """__global__ void f(int* a, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) ATOMIC_ADD(a, i % 4, 1);
    SYNC();
    OP(1 + threadIdx.x);
}"""
LOOP_HOST = {"arguments": '("a", 300)', "grid": "5", "block": "32"}


def test_the_same_program_has_the_same_digest(recorded):
    assert recorded(LOOP, **LOOP_HOST).info.digest == recorded(LOOP, **LOOP_HOST).info.digest


def test_another_program_has_another_digest(recorded):
    digests = {
        recorded(LOOP, **LOOP_HOST).info.digest,
        recorded(LOOP, **{**LOOP_HOST, "grid": "(1, 5)"}).info.digest,
        recorded(LOOP, **{**LOOP_HOST, "arguments": '("a", 301)'}).info.digest,
        recorded(LOOP.replace("OP(1", "OP(2"), **LOOP_HOST).info.digest,
    }
    assert len(digests) == 4


def test_a_trace_streamed_to_a_file_is_the_one_held_in_memory(recorded, tmp_path):
    held = recorded(LOOP, **LOOP_HOST)
    streamed = recorded(LOOP, output=tmp_path / "t.parquet", **LOOP_HOST)
    read = load_trace(tmp_path / "t.parquet")
    assert streamed.info.digest == read.info.digest == held.info.digest
    assert events(streamed) == events(read) == events(held)


def test_batches_are_of_whole_blocks_and_change_nothing(recorded, tmp_path, monkeypatch):
    whole = recorded(LOOP, **LOOP_HOST)
    monkeypatch.setattr("simtmm.recorder.cpu.launches.BATCH_EVENTS", 400)  # a block has 300 + 2 * 32
    monkeypatch.setattr("simtmm.trace.recording.TOGETHER", 400)
    monkeypatch.setattr("simtmm.trace.runs.encoder.TOGETHER", 2 * 364)
    parts = recorded(LOOP, **LOOP_HOST)
    streamed = recorded(LOOP, output=tmp_path / "t.parquet", **LOOP_HOST)
    assert [batch.block.tolist() for batch in parts.batches()] == [[0, 1], [2, 3], [4]]
    assert events(parts) == events(streamed) == events(whole)
    assert parts.info.digest == streamed.info.digest == whole.info.digest


def test_small_launches_come_together_in_a_row_group(recorded, tmp_path):
    launches = 'for i in range(50): yield Launch("f", ("a",), grid=2, block=1)'
    device = "__global__ void f(int* a) { if (blockIdx.x) ST(a, 0, 1); }"
    held = recorded(device, launches=launches)
    streamed = recorded(device, launches=launches, output=tmp_path / "t.parquet")
    assert pq.ParquetFile(tmp_path / "t.parquet").num_row_groups == 1
    assert rows(held, "launch", "block", "thread") == [(launch, 1, 0) for launch in range(50)]
    assert events(streamed) == events(held)
    assert streamed.info.digest == held.info.digest


def test_a_block_larger_than_a_row_group_is_read_back_whole(recorded, tmp_path):
    held = recorded(LOOP, **LOOP_HOST)
    write_rows(tmp_path / "t.parquet", held.batches(), held.info, row_group=50)  # as before there were runs
    assert pq.ParquetFile(tmp_path / "t.parquet").num_row_groups == round(5 * 364 / 50)
    read = load_trace(tmp_path / "t.parquet")
    assert [batch.block.tolist() for batch in read.batches()] == [[0], [1], [2], [3], [4]]
    assert events(read) == events(held)


def test_a_disk_that_is_full_is_an_error_and_leaves_nothing(recorded, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("simtmm.trace.runs.writing.RunWriter.add", full)
    with pytest.raises(OutputError, match=r"t\.parquet: can't be written \(No space left on device\)"):
        recorded(LOOP, output=tmp_path / "t.parquet", **LOOP_HOST)
    assert [path.name for path in tmp_path.iterdir()] == ["probe"]


def test_progress_hears_how_many_events_there_are_so_far(kernel_folder, monkeypatch):
    monkeypatch.setattr("simtmm.recorder.cpu.launches.BATCH_EVENTS", 400)
    heard = []
    trace = record(kernel_folder(DEVICE + LOOP, host(**LOOP_HOST)), progress=heard.append)
    assert heard == [2 * 364, 4 * 364, 5 * 364]
    assert heard[-1] == trace.info.events
