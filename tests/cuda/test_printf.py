"""printf of device code: each conversion as C prints it, of arguments that lie as the compiler lays them out."""

import ctypes
import re
import struct

import pytest

from simtmm.cuda.host_calls import WIDEST, _arguments, formatted
from simtmm.errors import RecordingError


class Memory:
    """Of a device: arguments from address 64 on, and texts."""

    def __init__(self, kinds, values, texts=()):
        self.data = bytearray()
        for kind, value in zip(kinds, values, strict=True):
            size = struct.calcsize(kind)
            self.data += bytes(-len(self.data) % size) + struct.pack("<" + kind, value)
        self.texts = dict(texts)

    def bytes(self, address, size):
        return bytes(self.data[address - 64 : address - 64 + size])

    def text(self, address):
        return self.texts[address]


@pytest.mark.parametrize(
    ("form", "kinds", "values", "printed"),
    [
        ("%d|%i|%5d|%-5d|%05d|%+d|% d", "iiiiiii", (-7, 7, 7, 7, 7, 7, 7), "-7|7|    7|7    |00007|+7| 7"),
        ("%.3d|%8.3d|%.0d", "iii", (5, 5, 0), "005|     005|"),
        ("%u|%+u", "II", (4294967295, 5), "4294967295|5"),  # a sign is for signed ones alone
        ("%x|%X|%#x|%#X|%#x|%o|%#o", "IIIIIII", (255, 255, 255, 255, 0, 8, 8), "ff|FF|0xff|0XFF|0|10|010"),
        ("%hd|%hu|%hhd|%hhu", "iIiI", (65535, 65537, 255, 257), "-1|1|-1|1"),
        ("%ld|%lld|%zu|%td|%jd|%lx", "qqQqqQ", (-1, 1 << 40, 9, -3, 4, 1 << 60),
         "-1|1099511627776|9|-3|4|1000000000000000"),
        ("%d %lld %d", "iqi", (1, 2, 3), "1 2 3"),  # each aligned to its own size
        ("%c%c|%3c|%-3c|", "iiii", (72, 105 + 256, 65, 66), "Hi|  A|B  |"),
        ("%s|%.2s|%6s|%-6s|%s", "QQQQQ", (1, 1, 1, 1, 0), "text|te|  text|text  |(null)"),
        ("%f|%.2f|%8.3f|%-8.1f|%e|%.3E|%g|%#.3g", "dddddddd", (1.5, 2.345, 3.14159, 2.5, 12345.678, 0.00012, 1e10, 1.0),
         "1.500000|2.35|   3.142|2.5     |1.234568e+04|1.200E-04|1e+10|1.00"),
        ("%a|%A|%.1a", "ddd", (1.5, 1.5, 1.0), "0x1.8p+0|0X1.8P+0|0x1.0p+0"),
        ("%f|%05f|%F|%e", "dddd", (float("inf"), float("-inf"), float("nan"), float("inf")), "inf| -inf|NAN|inf"),
        ("%Lf", "d", (0.25,), "0.250000"),
        ("%*d|%-*d|%.*f|%*.*f|%*d", "iiiiidiidii", (4, 1, 4, 2, 1, 2.25, 7, 2, 3.14159, -3, 5),
         "   1|2   |2.2|   3.14|5  "),
        ("100%%|%d%%", "i", (5,), "100%|5%"),
        ("none", "", (), "none"),
    ],
)  # fmt: skip
def test_each_conversion_is_c_s(form, kinds, values, printed):
    assert formatted(form, Memory(kinds, values, {1: "text"}), 64) == printed


def test_a_pointer_is_printed_as_c_prints_it():
    text = ctypes.create_string_buffer(64)
    ctypes.CDLL(None).snprintf(text, 64, b"%p|%20p", ctypes.c_void_p(0x7F00DEAD), ctypes.c_void_p(0x10))
    assert formatted("%p|%20p", Memory("QQ", (0x7F00DEAD, 0x10)), 64) == text.value.decode()


@pytest.mark.parametrize(
    ("form", "values"), [("%*d", (WIDEST + 1, 1)), ("%*d", (-WIDEST - 1, 1)), ("%.*d", (1 << 30, 1))]
)
def test_a_value_that_is_wider_than_all_output_may_be_is_refused(form, values):
    with pytest.raises(RecordingError, match=rf"printf of {re.escape(form)}: wider than 1,048,576 characters"):
        formatted(form, Memory("ii", values), 64)


def test_a_value_may_be_as_wide_as_all_output():
    assert len(formatted("%*d", Memory("ii", (WIDEST, 1)), 64)) == WIDEST


@pytest.mark.parametrize(
    ("form", "count"), [("", 0), ("no %% here", 0), ("%d", 1), ("%d %s %% %5.2f", 3), ("%*d %.*f %*.*e", 7)]
)
def test_printf_gives_back_how_many_arguments_it_took(form, count):
    assert _arguments(form) == count
