"""Arguments as texts: numbers, arrays that are generated, and arrays in files."""

import math
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.computer import available_memory
from simtmm.errors import KernelError, shown, shown_error

MAKERS = {
    "zeros": "zeros:DTYPE:SHAPE",
    "ones": "ones:DTYPE:SHAPE",
    "full": "full:DTYPE:SHAPE:VALUE",
    "arange": "arange:DTYPE:SHAPE",
    "random": "random:DTYPE:SHAPE[:LOW:HIGH]",
}
INTEGERS_BELOW = 100  # what `random` gives for whole numbers, by default
LARGEST = 1 << 40  # bytes of an array
WIDER, WIDEST = ("arange", "random"), 8  # what is generated as numbers of so many bytes first
FORMS = f"a number such as 1000, 0.5 or 2f, an array's file (.npy), or {', '.join(MAKERS.values())}"

Value = int | float | npt.NDArray[Any]


def value_of(text: str, where: str, folder: Path, random: np.random.Generator) -> Value:
    """What a text stands for: a number, or an array. Shapes are such as 1000 or 64x64.

    An array without axes, from a file, is a value of its own: a structure, where its type has fields.

    where: how errors begin. folder: the folder of the files. random: where random numbers come from.

    Raises KernelError.
    """
    number = number_of(text)
    if number is not None:
        return number
    maker = text.split(":", 1)[0]
    if maker in MAKERS and ":" in text:
        return _generated(text, where, random)
    if text.endswith(".npy"):
        return _from_file(folder / text, where)
    raise KernelError(f"{where} = {shown(text)}: must be {FORMS}")


def number_of(text: str) -> int | float | None:
    """The number that a text is, as C writes it: 12, 0x1F, 2.5, 2f, 1e-3, true; None for anything else."""
    plain = text.strip()
    if plain in ("true", "false"):
        return int(plain == "true")
    try:
        return int(plain.rstrip("uUlL"), 0) if plain[-1:] in "uUlL" else int(plain, 0)
    except ValueError:
        pass
    for ending in ("", "f", "F"):
        if ending and (not plain.endswith(ending) or plain[:2].lower() == "0x" or plain.lower() in ("inf", "-inf")):
            continue
        try:
            return float(plain.removesuffix(ending) if ending else plain)
        except ValueError:
            continue
    return None


def _generated(text: str, where: str, random: np.random.Generator) -> npt.NDArray[Any]:
    maker, *parts = text.split(":")
    most = {"full": 3, "random": 4}.get(maker, 2)
    if len(parts) < 2 or len(parts) > most or (maker == "full" and len(parts) < 3) or len(parts) == 3 != most:
        raise KernelError(f"{where} = {shown(text)}: must be {MAKERS[maker]}")
    dtype, shape = _dtype(parts[0], where), _shape(parts[1], where)
    if math.prod(shape) * dtype.itemsize > LARGEST:
        raise KernelError(f"{where} = {shown(text)}: must have at most {LARGEST:,} bytes")
    needed = math.prod(shape) * (dtype.itemsize + (maker in WIDER) * WIDEST)
    if needed > (available := available_memory()):
        raise KernelError(
            f"{where} = {shown(text)}: needs {needed:,} bytes, but this computer has {available:,} bytes of free memory"
        )
    numbers = [number_of(part) for part in parts[2:]]
    if None in numbers:
        raise KernelError(f"{where} = {shown(text)}: must be {MAKERS[maker]}, with numbers at the end")
    try:
        return _array(maker, dtype, shape, numbers, random)
    except MemoryError:
        raise KernelError(f"{where} = {shown(text)}: does not fit this computer's memory") from None
    except (ValueError, OverflowError) as error:
        raise KernelError(f"{where} = {shown(text)}: {error}") from None


def _array(
    maker: str, dtype: np.dtype[Any], shape: tuple[int, ...], numbers: list[Any], random: np.random.Generator
) -> npt.NDArray[Any]:
    match maker:
        case "zeros":
            return np.zeros(shape, dtype)
        case "ones":
            return np.ones(shape, dtype)
        case "full":
            return np.full(shape, numbers[0], dtype)
        case "arange":
            return np.arange(math.prod(shape)).astype(dtype).reshape(shape)
    if dtype.kind in "iub":
        low, high = numbers or (0, 2 if dtype.kind == "b" else INTEGERS_BELOW)
        return random.integers(int(low), int(high), shape).astype(dtype)
    low, high = numbers or (0.0, 1.0)
    single = np.float32 if dtype.itemsize <= 4 else np.float64
    drawn = random.random(shape, dtype=single)
    if (low, high) != (0.0, 1.0):
        drawn = drawn * single(high - low) + single(low)
    return drawn.astype(dtype)


def _dtype(name: str, where: str) -> np.dtype[Any]:
    names = {"float": "float32", "double": "float64", "half": "float16", "int": "int32", "char": "int8"}
    try:
        found = np.dtype(names.get(name, name))
    except (TypeError, ValueError, SyntaxError, MemoryError, RecursionError):  # NumPy reads "i4,(2,3)f8" as Python
        found = np.dtype(object)
    if found.kind not in "iufbc" or found.itemsize > 16:
        raise KernelError(
            f"{where}: type {shown(name)}: must be a type such as float32, float64, float16, int32, uint8"
        )
    return found


def _shape(text: str, where: str) -> tuple[int, ...]:
    parts = text.split("x")
    if not all(part.isdecimal() and part.isascii() and len(part) < 16 for part in parts) or "0" in parts:
        raise KernelError(f"{where}: shape {shown(text)}: must be sizes such as 1000 or 64x64")
    return tuple(int(part) for part in parts)


def _from_file(path: Path, where: str) -> npt.NDArray[Any]:
    try:
        with path.open("rb") as file:
            array = np.lib.format.read_array(file, allow_pickle=False)
    except OSError as error:
        raise KernelError(f"{where}: {path}: can't be read ({error.strerror or error})") from None
    except (ValueError, EOFError, SyntaxError, TypeError, MemoryError, RecursionError, TokenError) as error:
        raise KernelError(f"{where}: {path}: is not a NumPy array ({shown_error(error)[:80]})") from None
    if array.dtype.hasobject:
        raise KernelError(f"{where}: {path}: must have numbers, not Python objects")
    return array
