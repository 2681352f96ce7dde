"""A device that direct launches run on: what was placed on it, and arguments as its kernels take them."""

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from simtmm.cuda.device import Device, DeviceLaunch, check_shape
from simtmm.cuda.execution.layout import SHARED_WINDOW, TEXTURE_HANDLE
from simtmm.cuda.execution.runtime.device_clock import Latencies
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.host_memory import HostMemory
from simtmm.cuda.linked import LinkedModule
from simtmm.cuda.parameters import pack
from simtmm.cuda.signature import ParameterType
from simtmm.cuda.tensor_map import TensorMap
from simtmm.cuda.texture import SurfaceObject
from simtmm.device import DeviceProperties
from simtmm.device.stream import DEFAULT_STREAM, Stream
from simtmm.errors import KernelError
from simtmm.machine import Machine
from simtmm.recorder.direct.device_pointer import DevicePointer
from simtmm.recorder.direct.image import Image
from simtmm.trace.schema import ALIGNMENT

FULL = SHARED_WINDOW // 2  # bytes of addresses that a device without a recording gives before a new one takes over

Sizes = tuple[tuple[int, int, int], tuple[int, int, int], int]
"""Grid, block, and bytes of dynamic shared memory."""


class Session:
    """A device, with the modules and arrays of the launches on it."""

    def __init__(
        self, recorded: bool, properties: DeviceProperties | None = None, machine: Machine | None = None
    ) -> None:
        """recorded: arrays have names of their own. properties: what launches are held to, as `Device` takes it.

        machine: whose latencies device clocks go by.
        """
        self.device = Device(properties=properties, latencies=None if machine is None else Latencies.of(machine))
        self._host = HostMemory(self.device.memory, numbered=recorded)
        self._images: dict[int, tuple[weakref.ref[Image], LinkedModule]] = {}

    @property
    def is_full(self) -> bool:
        """Whether another should take over."""
        return self.device.memory.end > FULL

    def prepare(
        self,
        image: Image,
        function: KernelFunction,
        sizes: Sizes,
        arguments: Sequence[Any],
        where: str,
        stream: Stream = DEFAULT_STREAM,
    ) -> tuple[DeviceLaunch, list[object]]:
        """A launch that is sure to begin, its arrays and variables placed; and what must live until it ends.

        arguments: as the user gave them. where: begins errors. stream: that it is put on.

        Raises KernelError and PtxError, before anything is placed in memory.
        """
        grid, block, shared = sizes
        launch = DeviceLaunch(grid, block, b"", shared, where)
        check_shape(function, launch, function.shared_bytes(shared), where, self.device.properties)
        values = _values(function, arguments, where)
        known = [value.row(ALIGNMENT) if isinstance(value, TensorMap) else value for value in values]
        pack(function, known, lambda value: ALIGNMENT if _is_address(value) else None, where)
        held = self._host.hold()
        self._forget()
        self._place(image)
        addresses = {
            number: self._address(value, _name(function, number), where)
            for number, value in enumerate(values)
            if _is_address(value)
        }
        rows: list[bytes] = []
        for number, address in addresses.items():
            if isinstance(values[number], SurfaceObject):
                addresses[number] = TEXTURE_HANDLE + len(rows)
                rows.append(values[number].row(address))
        for number, value in enumerate(values):
            if isinstance(value, TensorMap):
                values[number] = value.row(addresses.pop(number))
        by_value = {id(values[number]): address for number, address in addresses.items()}
        packed = pack(function, values, lambda value: by_value.get(id(value)), where)
        held += [*self.device.memory.allocations, image, arguments]
        concurrent = stream != DEFAULT_STREAM
        return DeviceLaunch(grid, block, packed, shared, where, b"".join(rows), concurrent=concurrent), held

    def _address(self, value: Any, name: str, where: str) -> int:
        if isinstance(value, DevicePointer):
            image = value.module.image()
            self._place(image)
            return self.device.symbols(image.linked)[value.variable] + value.offset
        array = value.array if isinstance(value, (SurfaceObject, TensorMap)) else value
        return self._host.address(array, name, f"{where}: {name}")

    def _place(self, image: Image) -> None:
        """Place a module's variables, and have them point to one another on this device."""
        linked = image.linked
        if id(linked) not in self._images:
            self._images[id(linked)] = weakref.ref(image), linked
            self._host.adopt(image.variables, self.device.adopt(linked, image.variables))
        elif image.shared.device is None or image.shared.device() is not self.device:
            self.device.point_to_variables(linked)
        image.shared.device = weakref.ref(self.device)

    def _forget(self) -> None:
        """Take out the variables of modules that are gone."""
        for number, (image, linked) in list(self._images.items()):
            if image() is None:
                for address in self.device.symbols(linked).values():
                    self._host.drop(address)
                self.device.forget(linked)
                del self._images[number]


def _is_address(value: Any) -> bool:
    return isinstance(value, (np.ndarray, DevicePointer, SurfaceObject, TensorMap))


def _declared(function: KernelFunction, number: int) -> ParameterType | None:
    declared = function.declared
    return declared[number] if declared is not None and number < len(declared) else None


def _name(function: KernelFunction, number: int) -> str:
    declared = _declared(function, number)
    return declared.name if declared is not None and declared.name else f"argument_{number}"


def _values(function: KernelFunction, arguments: Sequence[Any], where: str) -> list[Any]:
    """Arguments with null pointers and numbers in arrays of no dimension as numbers. Raises KernelError."""
    found = []
    for number, argument in enumerate(arguments):
        declared = _declared(function, number)
        if argument is None and (declared is None or declared.pointers or not declared.number_kind):
            argument = 0
        if isinstance(argument, np.ndarray):
            if argument.ndim == 0 and not (declared is not None and declared.pointers):
                argument = argument[()]
            else:
                _check(argument, declared, f"{where}: {_name(function, number)}")
        found.append(argument)
    return found


def _check(array: np.ndarray[Any, Any], declared: ParameterType | None, where: str) -> None:
    what = f"{where} = an array of {array.dtype}"
    if array.dtype.hasobject:
        raise KernelError(f"{what}: must have numbers, not Python objects")
    if not array.dtype.isnative:
        raise KernelError(
            f"{what}: must have the byte order of this computer: array.astype(array.dtype.newbyteorder('='))"
        )
    if declared is not None and declared.pointers and not array.flags.writeable and not declared.points_to_const:
        raise KernelError(f"{what} that is read-only: the kernel takes {declared.text}, which it may write to")
