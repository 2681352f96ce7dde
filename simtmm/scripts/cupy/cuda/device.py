"""The device: the machine that is simulated, as far as it says what CUDA would."""

from collections.abc import Mapping
from typing import Any

from simtmm.device.attributes import by_runtime_name
from simtmm.recorder.direct import current


class Device:
    """The only device, number 0."""

    def __init__(self, device: Any = None) -> None:
        number = 0 if device is None else int(device)
        if number:
            from simtmm.scripts.cupy.cuda.runtime import CUDARuntimeError

            raise CUDARuntimeError("cudaErrorInvalidDevice: invalid device ordinal")
        self.id = number

    def __int__(self) -> int:
        return self.id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device)

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return f"<CUDA Device {self.id}>"

    def __enter__(self) -> "Device":
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def use(self) -> "Device":
        """It is the one in use."""
        return self

    def synchronize(self) -> None:
        """The host waits for all of its work."""
        clock = current.clock_if_any()
        if clock is not None:
            clock.synchronize()

    @property
    def compute_capability(self) -> str:
        """That kernels are compiled for, as "90"."""
        return str(current.architecture())

    @property
    def attributes(self) -> Mapping[str, int]:
        """What CUDA says of it, by names without cudaDevAttr."""
        return attributes()

    @property
    def mem_info(self) -> tuple[int, int]:
        """Bytes that are free, and all."""
        return (current.properties().global_bytes,) * 2

    @property
    def pci_bus_id(self) -> str:
        """It sits on no bus."""
        return "0000:00:00.0"


def attributes() -> dict[str, int]:
    """What CUDA says of a device, as far as the machine of the recording, or a GPU of the architecture, says so."""
    return by_runtime_name(current.properties())


def get_device_id() -> int:
    """The only one's."""
    return 0


def get_compute_capability() -> str:
    """That kernels are compiled for, as "90"."""
    return Device(0).compute_capability
