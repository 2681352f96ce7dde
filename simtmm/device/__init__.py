"""What a device says of itself: one answer for all front ends, and for the checks of launches."""

from simtmm.device.properties import DeviceProperties, device_properties

__all__ = ["DeviceProperties", "device_properties"]
