"""The bytes of a kernel's parameters: of each kind of argument that a kernel may be given, and what it refuses."""

import ctypes
import struct
from types import SimpleNamespace

import numpy as np
import pytest

from simtmm.cuda.parameters import pack
from simtmm.cuda.ptx.syntax import Variable
from simtmm.cuda.signature import signature
from simtmm.errors import KernelError

# What C calls each type, and ctypes's type of it.
OF_C = {
    "bool": ctypes.c_bool, "char": ctypes.c_byte, "signed char": ctypes.c_byte, "unsigned char": ctypes.c_ubyte,
    "short": ctypes.c_short, "unsigned short": ctypes.c_ushort, "int": ctypes.c_int, "unsigned int": ctypes.c_uint,
    "long": ctypes.c_long, "unsigned long": ctypes.c_ulong, "long long": ctypes.c_longlong,
    "unsigned long long": ctypes.c_ulonglong, "float": ctypes.c_float, "double": ctypes.c_double,
    "unsigned": ctypes.c_uint, "uint": ctypes.c_uint, "size_t": ctypes.c_size_t, "int8_t": ctypes.c_int8,
    "uint8_t": ctypes.c_uint8, "uchar": ctypes.c_ubyte, "int16_t": ctypes.c_int16, "uint16_t": ctypes.c_uint16,
    "ushort": ctypes.c_ushort, "int32_t": ctypes.c_int32, "uint32_t": ctypes.c_uint32, "int64_t": ctypes.c_int64,
    "uint64_t": ctypes.c_uint64, "long int": ctypes.c_long, "long long int": ctypes.c_longlong,
    "short int": ctypes.c_short, "unsigned long int": ctypes.c_ulong, "unsigned long long int": ctypes.c_ulonglong,
    "unsigned short int": ctypes.c_ushort, "ptrdiff_t": ctypes.c_ssize_t, "signed int": ctypes.c_int,
    "signed": ctypes.c_int, "long unsigned int": ctypes.c_ulong, "const int": ctypes.c_int,
}  # fmt: skip
PLACE = 0x7F0000001000  # of every array


def declared(text):
    """The parameters of a kernel with these, as its source declares them."""
    unit = SimpleNamespace(files=[0], source_text=lambda file: f"__global__ void k({text}) {{}}")
    return signature(SimpleNamespace(units=[unit]), "k")


def packed(variables, arguments, text=None):
    function = SimpleNamespace(parameters=variables, declared=None if text is None else declared(text))
    return pack(function, arguments, lambda each: PLACE if isinstance(each, np.ndarray) and each.ndim else None, "k")


def variable(kind, size, align=None):
    return Variable("p", "param", kind, align or size, size)


def of(c_type):
    size = ctypes.sizeof(c_type)
    return variable({ctypes.c_float: "f32", ctypes.c_double: "f64"}.get(c_type, f"u{8 * size}"), size)


def bounds(c_type):
    bits = 8 * ctypes.sizeof(c_type)
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if c_type(-1).value == -1 else (0, (1 << bits) - 1)


@pytest.mark.parametrize("name", OF_C)
def test_a_number_is_what_c_makes_of_it(name):
    c_type = OF_C[name]
    if c_type in (ctypes.c_float, ctypes.c_double):
        values, wrong = [0.1, 3, -1e30, 1e300, np.inf], []
    elif c_type is ctypes.c_bool:
        values, wrong = [0, 1, True], []
    else:
        least, most = bounds(c_type)
        values, wrong = [least, most, 7, np.int64(5), np.uint8(200 if most > 200 else 100), 6.0], [least - 1, most + 1]
    for value in values:
        assert packed([of(c_type)], [value], f"{name} n") == bytes(c_type(int(value) if value == 6.0 else value))
    for value in wrong:
        with pytest.raises(KernelError, match=rf"^k: n = {value}: must be from {least} to {most}$"):
            packed([of(c_type)], [value], f"{name} n")


def test_each_argument_stands_at_a_multiple_of_its_alignment_in_the_order_of_the_parameters():
    record = np.array((1, 2.5), [("a", "<i4"), ("b", "<f8")])
    kinds = [variable("u8", 1), variable("u64", 8), variable("u16", 2), variable("b8", 12, 4), variable("f32", 4)]
    given = [3, np.zeros(4), -2, record[()], 0.5]
    raw = record.tobytes()
    assert packed(kinds, given) == struct.pack("<B7xQh2x", 3, PLACE, -2) + raw + struct.pack("<f", 0.5)


@pytest.mark.parametrize("form", [bytes, bytearray, lambda raw: np.frombuffer(raw, "V12")[0]])
def test_a_structure_is_given_as_bytes_or_as_a_record(form):
    raw = bytes(range(12))
    assert packed([variable("b8", 12, 4)], [form(raw)]) == raw
    for size in (8, 16):
        with pytest.raises(KernelError, match=rf"^k: s: 12 bytes: must be {size}$"):
            packed([variable("b8", size, 4)], [form(raw)], "S s")
    with pytest.raises(KernelError, match=r"^k: s = 5: must be 12 bytes \(S\), as a NumPy record or as bytes$"):
        packed([variable("b8", 12, 4)], [5], "S s")


@pytest.mark.parametrize(
    ("kind", "size", "value", "expected"),
    [
        ("b8", 8, 1 + 2j, struct.pack("<2f", 1, 2)), ("b8", 16, 1 + 2j, struct.pack("<2d", 1, 2)),
        ("b8", 8, np.complex64(3j), struct.pack("<2f", 0, 3)), ("b8", 16, np.complex128(3j), struct.pack("<2d", 0, 3)),
        ("u64", 8, np.float64(0.1), struct.pack("<d", 0.1)), ("u32", 4, np.float32(0.5), struct.pack("<f", 0.5)),
        ("u16", 2, np.float16(0.5), struct.pack("<e", 0.5)), ("f32", 4, np.array(0.5), struct.pack("<f", 0.5)),
        ("u32", 4, np.array(7), struct.pack("<i", 7)), ("u32", 4, -1, b"\xff" * 4),
        ("u32", 4, (1 << 32) - 1, b"\xff" * 4),
        ("b8", 1, 9, b"\t"), ("u64", 8, np.bool_(True), struct.pack("<q", 1)),
    ],
)  # fmt: skip
def test_where_the_source_is_not_known_a_number_says_what_it_is(kind, size, value, expected):
    assert packed([variable(kind, size)], [value]) == expected


@pytest.mark.parametrize(
    ("kind", "size", "value", "text", "why"),
    [
        ("b8", 8, np.complex128(1), "float2 z", "the kernel takes float2"),
        ("b8", 16, np.complex64(1), "double2 z", "the kernel takes double2"),
        ("b8", 12, 1j, "S z", "the kernel takes S"),
        ("u64", 8, 1j, None, "the kernel takes 8 bytes"),
        ("f32", 4, np.zeros(3), "float x", "must be a number (float)"),
        ("f64", 8, np.zeros(3), None, "must be a number (.f64)"),
        ("u32", 4, np.zeros(3), "int n", "must be a number (int)"),
        ("u32", 4, "words", "int n", "must be a number or an array"),
        ("u32", 4, 0.5, "int n", "must be int"),
        ("u32", 4, 0.5, None, "must be a whole number of 32 bits"),
        ("u32", 4, 1 << 32, None, f"must be from {-(1 << 31)} to {(1 << 32) - 1}"),
        ("u32", 4, -(1 << 31) - 1, None, f"must be from {-(1 << 31)} to {(1 << 32) - 1}"),
        ("u64", 8, 5, "float* x", "must be an array (float*)"),
        ("u64", 8, np.zeros(3), "float* x", "the kernel takes float*"),
        ("u64", 8, np.zeros(3), "double** x", None),
        ("u64", 8, np.zeros(3, np.float32), "const float* __restrict__ x", None),
        ("u64", 8, np.zeros(3, np.uint32), "int x[]", None),
        ("u64", 8, np.zeros(3, np.complex64), "float* x", None),
        ("u64", 8, np.zeros(3, np.complex128), "float* x", "the kernel takes float*"),
        ("u64", 8, np.zeros(3, np.int8), "bool* x", None),
        ("u64", 8, np.zeros(3), "void* x", None),
        ("u64", 8, 0, "float* x", None),
        ("f32", 4, np.float64(1), "float x", "the kernel takes float"),
        ("u32", 4, np.float32(1), "int n", "the kernel takes int"),
        ("f32", 4, np.int32(1), "float x", "the kernel takes float"),
        ("u64", 8, 5, "cudaTextureObject_t t", "must be a simtmm.TextureObject (cudaTextureObject_t)"),
        ("u64", 8, np.zeros(3), "CUsurfObject t", "must be a simtmm.SurfaceObject (CUsurfObject)"),
    ],
)  # fmt: skip
def test_what_a_parameter_takes_and_refuses(kind, size, value, text, why):
    if why is None:
        assert packed([variable(kind, size)], [value], text) == (
            PLACE if isinstance(value, np.ndarray) else value
        ).to_bytes(8, "little")
        return
    with pytest.raises(KernelError) as caught:
        packed([variable(kind, size)], [value], text)
    assert str(caught.value).startswith(f"k: {text.split()[-1].strip('*[]') if text else 'argument 0'} = ")
    assert str(caught.value).endswith(why)


def test_a_number_of_arguments_that_the_kernel_does_not_take_is_refused_with_its_types():
    with pytest.raises(KernelError, match=r"^k: 1 arguments: must be 2 \(float \*, const int\)$"):
        packed([variable("u64", 8), variable("u32", 4)], [1], "float *x, const int n")
    with pytest.raises(KernelError, match=r"^k: 3 arguments: must be 2$"):
        packed([variable("u64", 8), variable("u32", 4)], [1, 2, 3])


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("__global__ void k(const float *__restrict__ a, S<int, 2> s, int (*f)(int, int) = 0) {}", ["a", "s", ""]),
        ("// __global__ void k(int no)\n__global__ void k(int) ;\n"
         "__global__ void __launch_bounds__(64, 2) k(int n) {}", ["n"]),
        ("typedef unsigned long long word; using Real = float;\n#define REAL Real\n"
         "__global__ void k(word a, REAL b, const REAL* c) {}", ["a", "b", "c"]),
    ],
)  # fmt: skip
def test_names_and_types_are_read_from_the_source(source, expected):
    unit = SimpleNamespace(files=[0], source_text=lambda file: source)
    found = signature(SimpleNamespace(units=[unit]), "k")
    assert [each.name for each in found] == [name or found[2].name for name in expected]
    if "typedef" in source:
        assert [(each.number_kind, each.pointers, each.points_to_const) for each in found] == [
            ("u", 0, False), ("f", 0, False), ("", 1, True),
        ]  # fmt: skip
        assert found[2].element == np.float32


def test_what_is_not_in_the_source_has_no_types():
    unit = SimpleNamespace(files=[0], source_text=lambda file: None)
    assert signature(SimpleNamespace(units=[unit]), "k") is None
