"""Arguments as a kernel takes them: one behind the other, each at its own alignment."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from simtmm.cuda.function import KernelFunction
from simtmm.cuda.ptx.syntax import Variable
from simtmm.cuda.signature import ParameterType
from simtmm.cuda.texture import SurfaceObject
from simtmm.errors import KernelError, shown

AddressOf = Callable[[Any], int | None]


def pack(function: KernelFunction, arguments: Sequence[Any], address_of: AddressOf, where: str) -> bytes:
    """The bytes of a kernel's parameters.

    arguments: numbers, NumPy scalars, bytes of a structure, and whatever `address_of` gives an address for.
    address_of: the virtual address of an argument that is an array; None for what is none. where: how errors begin.

    Raises KernelError for a number of arguments, a type or a value that the kernel does not take.
    """
    parameters = function.parameters
    types = function.declared
    if len(arguments) != len(parameters):
        raise KernelError(f"{where}: {len(arguments)} arguments: must be {len(parameters)}{_in_parentheses(types)}")
    packed = bytearray()
    for number, (parameter, argument) in enumerate(zip(parameters, arguments, strict=True)):
        packed += bytes(-len(packed) % parameter.align)
        declared = types[number] if types is not None and number < len(types) else None
        name = declared.name if declared is not None and declared.name else f"argument {number}"
        packed += _one(parameter, declared, argument, address_of, f"{where}: {name}")
    return bytes(packed)


def _in_parentheses(types: Sequence[ParameterType] | None) -> str:
    return f" ({', '.join(parameter.text for parameter in types)})" if types else ""


def _one(
    parameter: Variable, declared: ParameterType | None, argument: Any, address_of: AddressOf, where: str
) -> bytes:
    address = address_of(argument)
    if address is not None:
        if parameter.size != 8 or parameter.type in ("f64", "f32"):
            wanted = declared.text if declared else f".{parameter.type}"
            given = f"a {argument.title}" if isinstance(argument, SurfaceObject) else "an array"
            raise KernelError(f"{where} = {given}: must be a number ({wanted})")
        if isinstance(argument, SurfaceObject):
            if declared is not None:
                declared.check_object(argument.title, where)
        elif declared is not None:
            declared.check_array(argument, where)
        return address.to_bytes(8, "little")
    if isinstance(argument, (bytes, bytearray, np.void)):
        raw = argument.tobytes() if isinstance(argument, np.void) else bytes(argument)
        if len(raw) != parameter.size:
            raise KernelError(f"{where}: {len(raw)} bytes: must be {parameter.size}")
        return raw
    if isinstance(argument, np.ndarray) and argument.ndim == 0:
        argument = argument[()]
    if not isinstance(argument, (int, float, complex, np.generic)):
        raise KernelError(f"{where} = {shown(argument)}: must be a number or an array")
    if declared is not None:
        declared.check_number(argument, where)
    return _number(parameter, declared, argument, where)


def _number(parameter: Variable, declared: ParameterType | None, argument: Any, where: str) -> bytes:
    size = parameter.size
    if isinstance(argument, (complex, np.complexfloating)):
        of_type = isinstance(argument, np.complexfloating) and argument.dtype.itemsize
        if size not in (8, 16) or parameter.type != "b8" or of_type not in (False, size):
            wanted = declared.text if declared else f"{size} bytes"
            raise KernelError(f"{where} = {shown(argument)}: the kernel takes {wanted}")
        return np.asarray(argument, f"c{size}").tobytes()
    kind = declared.number_kind if declared is not None else ""
    if parameter.type in ("f32", "f64") or kind == "f":
        if size not in (2, 4, 8):
            raise KernelError(f"{where} = {shown(argument)}: must be {size} bytes")
        with np.errstate(over="ignore"):
            return bytes(np.dtype(f"f{size}").type(argument).tobytes())
    is_typed = isinstance(argument, np.floating) and argument.dtype.itemsize == size
    if is_typed and declared is None:
        return bytes(argument.tobytes())
    if parameter.type == "b8" and size > 1:
        wanted = declared.text if declared else "a structure"
        raise KernelError(
            f"{where} = {shown(argument)}: must be {size} bytes ({wanted}), as a NumPy record or as bytes"
        )
    if isinstance(argument, (float, np.floating)) and not float(argument).is_integer():
        wanted = declared.text if declared else f"a whole number of {8 * size} bits"
        raise KernelError(f"{where} = {shown(argument)}: must be {wanted}")
    if size not in (1, 2, 4, 8):
        raise KernelError(f"{where} = {shown(argument)}: must be {size} bytes of a structure")
    value = int(argument)
    least, most = -(1 << (8 * size - 1)), (1 << (8 * size)) - 1
    if kind == "i":
        most = (1 << (8 * size - 1)) - 1
    elif kind == "u":
        least = 0
    if not least <= value <= most:
        raise KernelError(f"{where} = {value}: must be from {least} to {most}")
    return (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")
