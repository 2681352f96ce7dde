"""What programs see of the device, by the names that simtmm/programs/runtime asks for."""

from simtmm.device import DeviceProperties
from simtmm.device.attributes import by_number


def told_properties(properties: DeviceProperties) -> dict[str, int]:
    """A device's attributes by number, as `attribute 16`, and what CUDA has no attribute for."""
    found = {f"attribute {number}": value for number, value in by_number(properties).items()}
    found |= {
        "memory": properties.global_bytes,
        "warp_width": properties.warp_width,
        "register_unit": properties.register_unit,
        "register_files": properties.register_files,
        "shared_unit": properties.shared_unit,
    }
    return found
