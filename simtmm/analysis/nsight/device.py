"""Whether the GPU that was measured is the machine that was simulated, and at its clock."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from simtmm.machine.sustained import CLOCK, HELD, SUSTAINED
from simtmm.measurement.nsight import Device

if TYPE_CHECKING:
    from simtmm.machine import Machine

NEAR = 0.05  # of a clock: boost clocks of one GPU differ so between launches; a base clock is a third lower


def other_gpu(machine: "Machine", device: Device) -> str:
    """Why a GPU is not the machine, in words; "" where nothing that the export says shows it.

    machine: that was simulated.
    device: the GPU that was measured.
    """
    groups, capability = machine.cores.groups, machine.compute_capability
    different = []
    if device.multiprocessors is not None and device.multiprocessors != groups:
        different.append(f"{device.multiprocessors} multiprocessors, {groups} simulated")
    if device.capability and capability and device.capability != capability:
        different.append(f"compute capability {device.capability}, {capability} simulated")
    if not different:
        return ""
    name = f", {device.name}" if device.name else ""
    return f"measured on another GPU than {machine.name}{name}: {'; '.join(different)}"


def other_clock(machine: "Machine", device: Device) -> str:
    """Why times are not of one clock, in words; "" where clocks are as near as NEAR, or not known.

    machine: that was simulated.
    device: the GPU that was measured, with the clock of a launch.
    """
    if device.clock_hz is None or machine.clock_hz is None or abs(device.clock_hz / machine.clock_hz - 1) <= NEAR:
        return ""
    lower = f", or simulate at that clock with --set {HELD}={device.clock_hz:.4g} --set {CLOCK}={SUSTAINED}"
    return (
        f"measured at {device.clock_hz / 1e9:.3g} GHz, simulated at {machine.clock_hz / 1e9:.3g} GHz, so times are of "
        f"two clocks: profile with --clock-control none{lower if device.clock_hz < machine.clock_hz else ''}"
    )


def device_warnings(machine: "Machine", devices: Iterable[Device]) -> Iterator[str]:
    """Sentences on GPUs that are not the machine, and on clocks that are not its own, each once.

    machine: that was simulated.
    devices: of launches that were measured.
    """
    known = list(devices)
    gpus = [other_gpu(machine, each) for each in known]
    clocks = [other_clock(machine, each) for each in known]
    for words in (*dict.fromkeys(filter(None, gpus)), *list(filter(None, clocks))[:1]):  # clocks differ a little
        yield f"{words[0].upper()}{words[1:]}."
