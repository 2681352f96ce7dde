"""An address out of bounds is told from the array that the access's own pointer is to, wherever it lies."""

import re

import pytest

HEAD = """#include <cstdio>
__device__ int table[4];
__constant__ int fixed[8] = {1, 2};
__device__ __noinline__ void put(int* where, long i, int v) { where[i] = v; }
__device__ __noinline__ void put_deeper(int* where, long i) { put(where + 1, i, 3); }
"""
FAR = 1 << 24
OF_P, OF_Q = (f"index {{}} of {name}, which has 64 elements (int32)" for name in "pq")


@pytest.fixture
def place(refused):
    """Where a statement in a kernel of p, q and n is said to access memory."""

    def find(statement, n=FAR, p="p=zeros:int32:64", q="q=zeros:int32:64", **what):
        source = f"{HEAD}__global__ void f(int* p, const int* q, int n) {{\n  {statement}\n}}\n"
        message = refused(source, what.pop("grid", 1), what.pop("block", 32), [p, q, f"n={n}"], **what)
        return re.search(r"(?:reads|writes|updates) \d bytes at (.*): out of bounds$", message)[1]

    return find


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("p[n] = 1;", OF_P.format(FAR)),
        # Which the strings of printf lie nearer to.
        ('if (q[0]) printf("%d", n); p[n] = q[threadIdx.x];', OF_P.format(FAR)),
        ("p[-(long)n * n] = 1;", OF_P.format(-FAR * FAR)),
        ("p[0] = q[n] + p[n + 1];", OF_Q.format(FAR)),
        ("p[q[0] + n] = 1;", OF_P.format(FAR)),
        ("for (int i = 0; i < 9; ++i) { p[i] += n; p += n; }", OF_P.format(FAR + 1)),
        ("p[1] = 2; asm volatile(\"\" ::: \"memory\"); *(p + (n << 3)) = 1;", OF_P.format(8 * FAR)),
        ("put(p, n, 4);", OF_P.format(FAR)),
        ("put_deeper(p, n);", OF_P.format(FAR + 1)),
        ("p[0] = table[n];", f"byte {4 * FAR} of table, which has 16 bytes"),
        ("p[0] = fixed[n];", f"byte {4 * FAR} of fixed, which has 32 bytes"),
        ("atomicAdd(&p[n], 1);", OF_P.format(FAR)),
    ],
)  # fmt: skip
def test_a_far_element_is_one_of_its_own_array(place, statement, said):
    assert place(statement) == said


def test_an_element_between_two_arrays_is_of_the_pointers_own(place):
    """The end of p is 256 bytes before q: what lies nearer to q is of p all the same."""
    assert place("p[n] = 1;", n=120) == OF_P.format(120)
    assert place("p[0] = q[-n];", n=60) == OF_Q.format(-60)


def test_shared_memory_is_told_by_its_variable(place):
    statement = (
        "__shared__ int other[8]; __shared__ int tile[32]; other[threadIdx.x & 7] = n; tile[threadIdx.x + n] = q[1]; "
        "__syncthreads(); p[threadIdx.x] = tile[31 - threadIdx.x] + other[threadIdx.x & 7];"
    )
    assert place(statement, n=50) == "byte 200 of tile, which has 128 bytes of shared memory"


@pytest.mark.parametrize(
    ("statement", "pointer"),
    [
        ("((int**)p)[0][n] = 1;", "that was loaded"),
        ("const int* r = n & 1 ? p : q; p[1] = r[n];", "that may be either"),
    ],
)
def test_where_nothing_says_whose_it_is_it_is_in_no_array(place, statement, pointer):
    where = place(f'if (q[0]) printf("%d", n); {statement}')
    found = re.fullmatch(r"address 0x([0-9a-f]+), which is not in an array, ([\d,]+) bytes past the end of q", where)
    assert found, pointer
    assert int(found[2].replace(",", "")) > 4 * FAR - 4096


def test_an_element_of_no_array_is_behind_the_null_pointer(place):
    assert place("p[n] = 1;", n=5, p="p=0") == "address 0x14, 20 bytes behind the null pointer"
    assert place("p[n] = 1;", n=FAR, p="p=0") == "address 0x4000000, 67,108,864 bytes behind the null pointer"


def test_machine_code_in_a_late_block_says_the_same(place):
    """Which alone runs there: PTX is compared with it in the first blocks."""
    statement = "int i = blockIdx.x * 256 + threadIdx.x; p[i < 50000 ? i : n] = q[i];"
    said = place(statement, grid=256, block=256, p="p=zeros:int32:65536", q="q=zeros:int32:65536")
    assert said == f"index {FAR} of p, which has 65,536 elements (int32)"
