"""CUDA's own numbers, wherever they are written down here, are those of its headers."""

import re
from pathlib import Path

import pytest

from simtmm.cuda import tensor_map, texture
from simtmm.cuda.compilers.wheels import find_nvcc
from simtmm.scripts.cupy.cuda import runtime
from simtmm.scripts.cupy.cuda import texture as cupy_texture

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
ENUMERATION = re.compile(r"\benum\b[^{};()]*\{([^}]*)\}")
DEFINED = re.compile(r"^#define\s+(\w+)\s+(0x[0-9a-fA-F]+|\d+)\b", re.MULTILINE)
NO_NUMBERS = {"is_hip", "CUDA_VERSION"}  # of the names that are CuPy's alone


def enumerated(text):
    """The numbers of all names of enumerations, each one more than the one before if it has none of its own."""
    for body in ENUMERATION.findall(COMMENT.sub("", text)):
        number = -1
        for entry in filter(None, (each.strip() for each in body.split(","))):
            name, _, value = (part.strip() for part in entry.partition("="))
            if value and not re.fullmatch(r"0x[0-9a-fA-F]+|\d+", value):
                break  # made of other names: none of those that are written down here
            number = int(value, 0) if value else number + 1
            yield name, number


@pytest.fixture(scope="module")
def headers():
    folder = Path(find_nvcc()).parents[1] / "include"
    texts = [(folder / name).read_text(encoding="utf-8") for name in ("driver_types.h", "texture_types.h", "cuda.h")]
    numbers = {name: number for text in texts for name, number in enumerated(text)}
    return numbers | {name: int(number, 0) for text in texts for name, number in DEFINED.findall(text)}


def beginning_with(numbers, prefix):
    return {name.removeprefix(prefix): number for name, number in numbers.items() if name.startswith(prefix)}


def test_cupy_s_names_have_the_runtime_s_numbers(headers):
    """A copy's name lacks the runtime's first word."""
    own = {
        name: value
        for name, value in vars(runtime).items()
        if isinstance(value, int) and not name.startswith("_") and name not in NO_NUMBERS
    }
    named = {name if name.startswith("cuda") else f"cuda{name[0].upper()}{name[1:]}": own[name] for name in own}
    assert named == {name: headers[name] for name in named}
    assert len(named) == 23


@pytest.mark.parametrize(
    ("modes", "of_cupy", "prefix"),
    [
        ("ADDRESS_MODES", "_ADDRESS", "cudaAddressMode"),
        ("FILTER_MODES", "_FILTER", "cudaFilterMode"),
        ("READ_MODES", "_READ", "cudaReadMode"),
    ],
)
def test_a_texture_s_modes_have_the_runtime_s_numbers(headers, modes, of_cupy, prefix):
    theirs = {name.removesuffix("Type"): value for name, value in beginning_with(headers, prefix).items()}
    own = getattr(texture, modes)
    assert {name.title().replace("_", ""): number for name, number in own.items()} == theirs
    assert dict(enumerate(getattr(cupy_texture, of_cupy))) == {number: name for name, number in own.items()}


def test_a_tensor_s_types_have_the_driver_s_numbers_and_sizes(headers):
    theirs = beginning_with(headers, "CU_TENSOR_MAP_DATA_TYPE_")
    own = {name.upper(): number for name, (number, _) in tensor_map.TYPES.items()}
    assert own == {name: number for name, number in theirs.items() if not name.startswith("16U")}
    for name, (_, size) in tensor_map.TYPES.items():
        assert 8 * size == 16 if name == "bfloat16" else str(8 * size) in name, name


def test_a_tensor_s_swizzles_have_the_driver_s_numbers(headers):
    theirs = beginning_with(headers, "CU_TENSOR_MAP_SWIZZLE_")
    of_bytes = {f"{size}B" if size else "NONE": number for number, size in enumerate(tensor_map.SWIZZLES)}
    assert of_bytes == {name: number for name, number in theirs.items() if "ATOM" not in name}
    assert theirs["NONE"] == headers["CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE"] == 0
