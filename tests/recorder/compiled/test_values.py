"""Arguments as texts: what each form stands for, and which are refused."""

from pathlib import Path

import numpy as np
import pytest

from simtmm.errors import KernelError
from simtmm.recorder.compiled import values
from simtmm.recorder.compiled.values import number_of, value_of


def value(text, folder=Path(), seed=0):
    return value_of(text, "x", folder, np.random.default_rng(seed))


@pytest.mark.parametrize(
    ("text", "number"),
    [("12", 12), ("-3", -3), ("0x1F", 31), ("12u", 12), ("12UL", 12), ("0x1Fu", 31), ("2.5", 2.5), ("2f", 2.0),
     ("2.5F", 2.5), ("1e-3", 1e-3), ("1e3f", 1e3), ("true", 1), ("false", 0), ("inf", float("inf"))],
)  # fmt: skip
def test_numbers_are_those_of_c(text, number):
    found = number_of(text)
    assert found == number
    assert type(found) is type(number)


@pytest.mark.parametrize("text", ["", "abc", "f", "1.2.3", "0xZZ", "zeros"])
def test_what_is_no_number_is_distinguished(text):
    assert number_of(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("zeros:float32:3", np.zeros(3, np.float32)),
        ("ones:double:2x3", np.ones((2, 3))),
        ("full:int:2:7", np.full(2, 7, np.int32)),
        ("full:half:2:0.5f", np.full(2, 0.5, np.float16)),
        ("arange:uint8:2x2", np.array([[0, 1], [2, 3]], np.uint8)),
    ],
)
def test_arrays_that_are_made(text, expected):
    result = value(text)
    np.testing.assert_array_equal(result, expected, strict=True)


def test_random_numbers_lie_in_their_range_and_follow_the_seed():
    result = value("random:float32:1000:-2:3")
    assert result.dtype == np.float32
    assert -2 <= result.min() < -1.9
    assert 2.9 < result.max() < 3
    assert np.array_equal(result, value("random:float32:1000:-2:3"))
    assert not np.array_equal(result, value("random:float32:1000:-2:3", seed=1))
    assert set(np.unique(value("random:int32:1000:5:8"))) == {5, 6, 7}
    assert set(np.unique(value("random:bool:100"))) == {False, True}


def test_an_array_in_a_file_is_read_from_the_folder(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(6).reshape(2, 3))
    np.testing.assert_array_equal(value("a.npy", tmp_path), np.arange(6).reshape(2, 3), strict=True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("abc", "must be a number such as 1000, 0.5 or 2f, an array's file (.npy), or zeros:DTYPE:SHAPE"),
        ("zeros:float32", "must be zeros:DTYPE:SHAPE"),
        ("full:float32:3", "must be full:DTYPE:SHAPE:VALUE"),
        ("full:float32:3:x", "must be full:DTYPE:SHAPE:VALUE, with numbers at the end"),
        ("random:float32:3:1", "must be random:DTYPE:SHAPE[:LOW:HIGH]"),
        ("zeros:flota32:3", "type 'flota32': must be a type such as float32"),
        ("zeros:object:3", "type 'object': must be a type such as float32"),
        ("zeros:i" + "1" * 5000 + ",:3", "must be a type such as float32"),
        ("zeros:float32:3x", "shape '3x': must be sizes such as 1000 or 64x64"),
        ("zeros:float32:0", "shape '0': must be sizes such as 1000 or 64x64"),
        ("zeros:float32:1000000x1000000", "must have at most 1,099,511,627,776 bytes"),
        ("none.npy", "none.npy: can't be read (No such file or directory)"),
    ],
)
def test_what_is_refused_says_what_is_allowed(text, said):
    with pytest.raises(KernelError) as caught:
        value(text)
    assert str(caught.value).startswith("x")
    assert said in str(caught.value)


DEEP = b"{'descr': " + b"(" * 3000 + b", 'shape': (1,), 'fortran_order': False}"


@pytest.mark.parametrize(
    "content",
    [b"", b"no array", b"\x93NUMPY\x01\x00", b"\x93NUMPY\x01\x00" + len(DEEP).to_bytes(2, "little") + DEEP],
)
def test_a_file_that_holds_no_array_is_refused(tmp_path, content):
    (tmp_path / "a.npy").write_bytes(content)
    with pytest.raises(KernelError, match=r"a\.npy: is not a NumPy array"):
        value("a.npy", tmp_path)


def test_a_file_of_python_objects_is_not_opened(tmp_path):
    np.save(tmp_path / "a.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(KernelError, match=r"a\.npy: "):
        value("a.npy", tmp_path)


@pytest.mark.parametrize(("text", "bytes_"), [("ones:float32:1000000", 4_000_000), ("arange:int8:1000000", 9_000_000)])
def test_an_array_that_fits_no_memory_is_refused(monkeypatch, text, bytes_):
    """Before it is made: most systems lend more than they have, and end the process that uses it."""
    monkeypatch.setattr(values, "available_memory", lambda: bytes_ - 1)
    with pytest.raises(KernelError) as caught:
        value(text)
    assert str(caught.value).endswith(
        f"= {text!r}: needs {bytes_:,} bytes, but this computer has {bytes_ - 1:,} bytes of free memory"
    )
    monkeypatch.setattr(values, "available_memory", lambda: bytes_)
    assert value(text).size == 1_000_000
