"""What numba-cuda takes of cuda.core, of a device that is not there: the device and streams."""

import uuid
from types import SimpleNamespace
from typing import Any

from simtmm.recorder.direct.streams import DeviceStream
from simtmm.scripts.device_attributes import compute_capability, device_name
from simtmm.scripts.numba_cuda.driver import CONTEXT


class CoreDevice:
    """Stands in for cuda.core.Device."""

    def __init__(self, number: int = 0) -> None:
        self.device_id = number
        self.uuid = str(uuid.UUID(int=number + 1))
        self.context = SimpleNamespace(handle=_binding().CUcontext(CONTEXT))

    @property
    def compute_capability(self) -> tuple[int, int]:
        """What kernels are compiled for."""
        return compute_capability()

    @property
    def name(self) -> str:
        """The machine's."""
        return device_name()

    def set_current(self) -> None:
        """It is the only one."""


class CoreStream(DeviceStream):
    """Stands in for cuda.core.Stream. handle: its number; 0 for the default stream."""

    def __init__(self, handle: int) -> None:
        super().__init__(handle, is_own=False)
        self.handle = handle

    @classmethod
    def from_handle(cls, handle: Any) -> "CoreStream":
        """Of a number, or what has one."""
        return cls(int(handle))

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.handle

    def __bool__(self) -> bool:
        return bool(self.handle)

    def __int__(self) -> int:
        return self.handle

    def sync(self) -> None:
        """The host waits for it."""
        self.synchronize()


def _binding() -> Any:
    from cuda.bindings import driver

    return driver
