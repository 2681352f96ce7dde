"""What programs see of the device, by the names that simtmm/programs/runtime asks for."""

from simtmm.device import DeviceProperties
from simtmm.device.attributes import by_number
from simtmm.device.host import Host

PICO = 1e12


def told_properties(properties: DeviceProperties, host: Host) -> dict[str, int]:
    """A device's attributes by number, as `attribute 16`, what CUDA has no attribute for, and picoseconds of calls."""
    found = {f"attribute {number}": value for number, value in by_number(properties).items()}
    found |= {
        "memory": properties.global_bytes,
        "warp_width": properties.warp_width,
        "register_unit": properties.register_unit,
        "register_files": properties.register_files,
        "shared_unit": properties.shared_unit,
        "managed_returns": int(host.returned > 0),
    }
    return found | {f"ps {name}": round(seconds * PICO) for name, seconds in host.calls.items()}
