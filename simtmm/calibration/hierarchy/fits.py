"""The values that a joint fit may find: what shows each, between which bounds, and over which step."""

from dataclasses import dataclass

SERVICE, REQUEST = "memory.l2.service", "memory.l2.request_service"
LATENCY, MEMORY_SERVICE, TURNAROUND = "memory.latency", "memory.service", "memory.turnaround"
WRITE_SHARE = "memory.write_share"


@dataclass(frozen=True)
class Fit:
    """A value that may be fitted.

    shown_by: kinds of measurements that may determine it. how: in words. least, most: its bounds. step: over which its
    slope is taken. All three in cycles, or times the machine's own value of the key `of`, where there is one.
    """

    key: str
    shown_by: tuple[str, ...]
    how: str
    least: float
    most: float
    step: float
    of: str = ""


def _relative(name: str, kind: str, how: str) -> Fit:
    """A value between a fifth and five times the machine's own."""
    return Fit(name, (kind,), how, 0.2, 5, 0.04, name)


OF_HIERARCHY = (
    Fit("memory.pipe.access_interval", ("strides", "caches"), "loads that the L1 has", 0, 4, 0.05),
    Fit("memory.pipe.tag_interval", ("strides",), "loads of several lines that the L1 has", 0, 2, 0.02),
    Fit("memory.pipe.interval", ("strides", "caches"), "passes of loads that the L1 has", 0.25, 4, 0.05),
    _relative(SERVICE, "l2", "buffers that the L2 holds"),
    _relative("memory.l2.store_service", "small", "small kernels that store to the L2"),
    Fit("scheduling.block_interval", ("small",), "small kernels of small blocks", 0, 1000, 10),
    _relative("scheduling.launch_overhead", "small", "the smallest kernels, launched"),
    _relative("scheduling.graph_launch_overhead", "small", "the smallest kernels in graphs"),
)
STREAMS = ("streams",)
OF_STREAMS = (
    Fit(LATENCY, ("chase", "streams"), "buffers beyond the caches, and low occupancy", 0.8, 1.25, 0.01, LATENCY),
    Fit(MEMORY_SERVICE, STREAMS, "read kernel, its saturated end", 0.2, 5, 0.02, MEMORY_SERVICE),
    Fit("scheduling.block_launch", STREAMS, "read kernel, low occupancy, less L", 0, 1e5, 15),
    Fit("scheduling.warp_launch", STREAMS, "read kernel, over the warps of a round", 0, 1e3, 2),
    Fit("memory.fetch_interval", STREAMS, "kernels that load, over the warps of a round", 0, 200, 1),
    Fit("memory.store_latency", STREAMS, "kernels that store, low occupancy", 0.002, 2, 0.05, LATENCY),
    Fit(WRITE_SHARE, STREAMS, "kernels that only store, their saturated end", 0.5, 2, 0.02),
    Fit(TURNAROUND, STREAMS, "kernels that load and store, saturated", 0, 2, 0.05, MEMORY_SERVICE),
    Fit("memory.port_interval", STREAMS, "stencils, whose lines are loaded again", 0, 20, 0.5),
    Fit("memory.store_buffer", STREAMS, "kernels that only store, how sharply they saturate", 0, 100, 1.5),
    Fit("memory.return_delay", STREAMS, "kernels that store what they load", 0, 400, 3),
    Fit("memory.return_interval", STREAMS, "likewise, over what they load", 0, 60, 1),
    Fit("memory.store_interval", STREAMS, "kernels that only store", 0, 60, 1),
)  # fmt: skip
FITS = OF_HIERARCHY + OF_STREAMS
