"""What a device that is not there says of itself to scripts: the properties of simtmm/device, as they are now."""

from simtmm.device.attributes import attribute_of
from simtmm.recorder.direct import current


def compute_capability() -> tuple[int, int]:
    """What kernels are compiled for now."""
    return divmod(current.architecture(), 10)


def device_name() -> str:
    """The machine's, or that of a device of which nothing but the architecture is known."""
    return current.properties().name


def attribute(name: str) -> int:
    """A device's attribute by the driver's name for it, without CU_DEVICE_ATTRIBUTE_.

    Raises KernelError for one that nobody knows here: a wrong number would be worse.
    """
    return attribute_of(current.properties(), name)
