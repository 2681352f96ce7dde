"""Where the state of a launch, a block and a warp stands, for the translated code and for Python.

All three are structures in plain memory. The translated code (runtime/*.ll) reads them at these offsets.
"""

import ctypes
from typing import Any

import numpy as np

from simtmm.trace.schema import GRID_WORKSPACE as GRID_WORKSPACE
from simtmm.trace.schema import GRID_WORKSPACE_BYTES as GRID_WORKSPACE_BYTES
from simtmm.trace.schema import PEER_BIT as PEER_BIT
from simtmm.trace.schema import RESULT_CLASSES

LANES = 32
BARRIERS = 16  # of a block, by number
RESERVED_BYTES = 1024  # of shared memory, for the system: where cooperative groups keep what tiles of warps share,
RESERVED_FOR_GROUPS = 512  # behind this
CLUSTER_BARRIER = BARRIERS  # and behind these the one of its cluster, which is the block alone
ALL_BARRIERS = BARRIERS + 1
ALIGN = 64  # bytes: of every vector
ROOM = {"%data": 2048, "%data2": 1024, "%result": 1024, "%matrix": 16384}  # bytes, of all lanes: of accesses (warp.ll)

SHARED_WINDOW = 1 << 40  # generic addresses from here on are shared memory,
LOCAL_WINDOW = 1 << 41  # from here on local memory,
PARAMETER_WINDOW = 3 << 40  # and from here on the parameters of the kernel
WINDOW = 1 << 32  # bytes of a window
PEER_OFFSETS = (1 << PEER_BIT) - 1
# Of an address in shared memory: from PEER_BIT on one more than the rank of the block whose memory it is, or 0

LAUNCH = np.dtype(
    {
        "names": [
            "grid", "block", "parameters", "log", "log_limit", "fault", "fault_access", "fault_lane", "fault_address",
            "allocations", "allocation_count", "caches", "symbols", "shared_bytes", "local_bytes", "warps",
            "warp_bytes", "frame_bytes", "arena_bytes", "living", "thread_ids", "entry_local", "host", "fuel",
            "current", "callback", "processors", "warp_threads", "textures", "texture_count", "changes",
            "restless", "seen", "timing", "turn_end", "cluster", "is_clustered", "reserved_bytes", "most_polls",
        ],
        "formats": [
            ("<i4", 3), ("<i4", 3), "<u8", "<u8", "<u8", "<i4", "<i4", "<i4", "<u8",
            "<u8", "<i8", "<u8", "<u8", "<i8", "<i8", "<i4",
            "<i8", "<i8", "<i8", "<u8", "<u8", "<i8", "<u8", "<i4",
            "<i8", "<u8", "<i4", "<i4", "<u8", "<i8", "<i8", "<i8", "<u8", "<u8", "<i4", ("<i4", 3), "<i4", "<i8",
            "<i4",
        ],
    },
    align=True,
)  # fmt: skip
"""One for each launch. Addresses are those of this process; `allocations` points to ALLOCATION[allocation_count],
`caches` to CACHE, `symbols` to a virtual address for each symbol of the code, `living` to the mask of each warp's
threads, `thread_ids` to x, y and z of each warp's lanes, `textures` to TEXTURE[texture_count]. `log` 0: nothing is
recorded. `turn_end`: the block of code behind which turns end besides, or -1. What code that is watched
(livelock/watched_code.py) writes besides: `changes` counts what was stored where something else lay, `restless` what
else may let a thread go on, `seen` points to a SEEN for each access. `timing` points to what the clocks of device code
go by (device_clock.py). `cluster`: blocks of a cluster along each axis; `is_clustered`: whether the launch or the
kernel says so. `reserved_bytes`: of `shared_bytes`, those behind what the kernel and the launch ask for. `most_polls`:
turns in which a warp looks at an mbarrier in vain, before the loop around it goes round, in code that is watched."""

ALLOCATION = np.dtype([("low", "<u8"), ("bytes", "<u8"), ("host", "<u8"), ("flags", "<u8")])
CONSTANT, TOUCHED, TOUCHED_AND_WRITTEN = 1, 2, 6
"""Bits of an allocation's flags: nothing may write to it; the launch has accessed it; and has written to it."""
CACHE = np.dtype([("low", "<u8"), ("last", "<u8"), ("shift", "<u8")])  # the array that an access met last

SEEN = np.dtype(
    [
        ("times", "<i8"), ("low", "<u8"), ("end", "<u8"), ("address", "<u8"), ("block", "<i8"), ("warp", "<i4"),
        ("lanes", "<u4"),
    ]
)  # fmt: skip
"""What code that is watched notes of an access: how often it was made, from which generic address up to which, and of
the last time the address of its first lane, the block, the warp and the lanes."""

CLOCK_SLOTS = 8  # for values that are under way: scoreboards, or registers, of which several may share one
CLOCK_BLOCKS = 64  # whose warps' clocks are known at once; a power of 2
CLOCK_BLOCKS_MASK = CLOCK_BLOCKS - 1
CLOCK_LINE_BITS = 7  # of an address, within a line
CLOCK_SCALE = 32  # bits behind the point of nanoseconds a cycle

TIMING = np.dtype(
    [
        ("base", "<i8"), ("latest", "<i8"), ("nanoseconds", "<i8"), ("l1", "<i8"), ("l2", "<i8"), ("memory", "<i8"),
        ("shared", "<i8"), ("barrier", "<i8"), ("groups", "<i8"), ("l1_lines", "<i8"), ("l2_lines", "<i8"),
        ("l1_tags", "<u8"), ("l2_tags", "<u8"), ("entries", "<u8"), *((name, "<i8") for name in RESULT_CLASSES),
    ]
)  # fmt: skip
"""What the clocks of device code go by (device_clock.py). base: the clock at the launch's beginning; latest: the latest
of any warp. nanoseconds: of a cycle, with CLOCK_SCALE bits behind the point. Latencies [cycles] of a hit in the L1 and
the L2, of global and shared memory, and of a barrier. Groups, lines of the L1 of each and of the L2 (0: there is none),
places of their tags, and of a CLOCK for each warp, and one more, of each block. Latencies of results, by their classes
[cycles]."""

CLOCK = np.dtype(
    [("block", "<i8"), ("clock", "<i8"), ("met", "<i8"), ("latency", "<i8"), ("ready", "<i8", CLOCK_SLOTS)]
)
CLOCK_BYTES = CLOCK.itemsize
"""Of a warp: its block's number and one, its clock, whether it has come to a barrier, the latency of its access under
way, and when the values of each slot are there. Of a block, as its last: when the last warp came to its barrier."""

TEXTURE = np.dtype(
    {
        "names": [
            "border", "missing", "base", "host", "pitch", "slice", "kind", "shape", "width", "height", "depth",
            "channels", "element_bytes", "texel_bytes", "format", "address_x", "address_y", "address_z", "linear",
            "normalized",
        ],
        "formats": [("<u4", 4), ("<u4", 4), "<u8", "<u8", "<i8", "<i8", *14 * ["<i4"]],
    },
    align=True,
)  # fmt: skip
"""A texture or a surface: what is read beyond its border, and in place of channels that it lacks, as the bits of four
registers; its virtual address, where it lies in this process, and the bytes from row to row and from slice to slice;
whether it is KIND_TEXTURE or KIND_SURFACE; its number of dimensions, and LAYERED more where its slices are layers;
texels and bytes; and how it is read, by the numbers of simtmm.cuda.texture."""

TENSOR_MAP = np.dtype(
    {
        "names": ["magic", "address", "sizes", "strides", "box", "steps", "kind", "rank", "interleave", "swizzle",
            "fill", "im2col", "element_bytes", "lower", "upper"],
        "formats": [
            "<u8", "<u8", ("<u8", 5), ("<u8", 4), ("<u2", 5), ("<u1", 5), *7 * ["<u1"], ("<i2", 3), ("<i2", 3),
        ],
        "offsets": [0, 8, 16, 56, 88, 98, 103, 104, 105, 106, 107, 108, 109, 110, 116],
        "itemsize": 128,
    }
)  # fmt: skip
"""A tensor map, as programs hold and pass it (programs/runtime/tensors.cpp makes the same): its address; numbers along
each dimension, and bytes from one to the next of each but the first; of a box, numbers along each dimension, and the
step from one to the next; by the driver's numbers the type, how it is interleaved and swizzled, and whether what lies
outside is NaN. Of im2col `box` holds the channels and the pixels, and there are the corners of the pixels' box."""

TENSOR_MAGIC = 0x50414D544D495453  # "STIMTMAP": what no tensor map of ours is told by
TENSOR_CONVERTED = 10  # the first of the types that are converted while they are copied
TENSOR_ENTRIES = 1024  # of the log, that a copy of a box takes at most

KIND_TEXTURE, KIND_SURFACE = 1, 2
LAYERED = 16
FLAT = 32 + 2  # of an access that takes textures of one dimension as well as of two
TEXTURE_BYTES, SEEN_BYTES = TEXTURE.itemsize, SEEN.itemsize
TEXTURE_HANDLE = 1 << 46  # of a launch's first texture object; the others follow
COPIER_BIT = 48  # in the log, addresses of copies in bulk have 1 more than the lane that copies from this bit on
TOLD_WIDTH = 56  # in the log, the addresses of texels have the bytes of a texel from this bit on

BLOCK = np.dtype(
    {
        "names": ["index", "number", "living", "next", "shared", "arrived", "expected", "gathered", "result", "rounds",
            "running", "cluster_rank", "cluster_size", "peers"],
        "formats": [
            ("<i4", 3), "<i8", "<i4", "<i4", "<u8", ("<i4", ALL_BARRIERS), ("<i4", ALL_BARRIERS), ("<i4", ALL_BARRIERS),
            ("<i4", ALL_BARRIERS), "<i4", "<i4", "<i4", "<i4", "<u8",
        ],
    },
    align=True,
)  # fmt: skip
"""A block: its index in the grid, threads that have not left, the warp to go on with, and for each barrier how many
threads have arrived, how many it waits for (0: all that live), what was gathered for bar.red, and its last result;
turns that its warps may take in its own, and the warp that runs; its rank in its cluster, the blocks of that, and the
addresses of their states, by rank."""

WARP = np.dtype(
    {
        "names": [
            "pc", "activation", "living", "blocked", "tired", "gathering", "number", "top", "local", "local_top",
            "waiting", "arrived", "ran", "polls", "committed",
        ],
        "formats": [
            ("<i4", LANES), ("<u8", LANES), "<u4", "<u4", "<u4", "<u4", "<i4", "<u8", "<u8", "<i8",
            ("<u4", ALL_BARRIERS), "<u4", "<u4", "<i4", "<i4",
        ],
        "offsets": [0, 128, 384, 388, 392, 396, 400, 408, 416, 424, 448, 516, 520, 524, 528],
        "itemsize": 576,
    }
)  # fmt: skip
"""A warp: each lane's block of code and activation; masks of lanes that have not left, that wait, that have used up
their turn, and that wait for others of their warp; its number in the block; the end of what its arena holds; its local
memory; for each barrier the lanes that wait there; those that have arrived at the cluster's since it was full; of code
that is watched, those that have run; how often in a row it has looked at an mbarrier in vain; and the groups of wgmma
that it has committed."""

ACTIVATION = np.dtype([("parent", "<u8"), ("behind", "<i4"), ("lanes", "<u4"), ("local_top", "<i8"), ("code", "<i8")])
ACTIVATION_BYTES = 64


def activation_field(activation: int, name: str) -> int:
    """A field of the activation of a function, which lies at an address of this process."""
    kind, offset = ACTIVATION.fields[name][:2]  # type: ignore[index]
    return int(np.frombuffer(ctypes.string_at(activation + int(offset), kind.itemsize), kind)[0])


def _between(of: np.dtype[Any], first: str, behind: str) -> int:
    """Bytes from a field of a structure up to another one."""
    assert of.fields is not None
    return int(of.fields[behind][1]) - int(of.fields[first][1])


CLUSTER_ARRIVED = int(BLOCK.fields["arrived"][1]) + 4 * CLUSTER_BARRIER  # type: ignore[index]
WARP_BYTES = WARP.itemsize
BLOCK_BARRIER_BYTES = _between(BLOCK, "arrived", "rounds")  # of what a block keeps of its barriers,
WARP_BARRIER_BYTES = _between(WARP, "waiting", "ran")  # and a warp
BLOCK_BYTES = -(-BLOCK.itemsize // ALIGN) * ALIGN

# What running a warp or a block comes back with.
DONE, YIELDED, BLOCKED, LOG_FULL, FAULTED = range(5)

MOST_ROUNDS = 1 << 14  # of its warps, that a block takes before it comes back, though none has used up its turn
MOST_POLLS = 64  # turns of a warp in which it looks at an mbarrier in vain, before the loop around that goes round

LEFT = 0x7FFFFFFF  # the block of code of a lane that has left

# Faults.
OUT_OF_BOUNDS, MISALIGNED, TRAPPED, NO_STACK, BAD_CALL, READ_ONLY, NO_TEXTURE, OUTSIDE_SURFACE = range(1, 9)
NO_BARRIER, BAD_TENSOR_MAP, BAD_COORDINATE, BAD_METADATA, BAD_DESCRIPTOR = range(9, 14)

# In the log: in the place of a site.
NEW_WARP, NEW_BLOCK = -1, -2
LOG_ENTRY = 8 + 8 * LANES  # bytes, of an access

# In a log that is for checks (check_log.py), besides: in the place of a site, with a mask of lanes:
SAME_VALUE, FENCE_BLOCK, FENCE_DEVICE, LEAVING = -3, -4, -5, -6
# copies by cp.async become a group; all of them are waited for, or (the last, less N) all groups but the latest N;
COPIES_COMMITTED, COPIES_ALL, COPIES_WAITED = -7, -8, -9
# or, of what has an entry with a word for each lane, the number of the instruction (Program.accesses), and from these
# bits on the exponent of its width, its state space, and whether it writes; of SYNCHRONISES, whether it is a barrier.
CHECK_WIDTH_BIT, CHECK_SPACE_BIT, CHECK_WRITE_BIT = 22, 25, 27
IN_GLOBAL, IN_SHARED, IN_LOCAL, SYNCHRONISES = range(4)
# With this bit, what a lane copies in bulk: behind the entry of addresses stand one of sizes [bytes], from SIZE_BIT on
# whether some of it is left out, and one of the addresses of the mbarriers that are told, or -1.
CHECK_BULK_BIT, SIZE_BIT = 28, 40
# Far below the numbers of cp.async: fences of the async proxy; copies in bulk and products become a group; all groups
# of them but the latest N are waited for: (a mark, less N, at most MOST_GROUPS).
PROXY_FENCE, BULK_COMMITTED, PRODUCTS_COMMITTED = -(1 << 20), -(1 << 20) - 1, -(1 << 20) - 2
MOST_GROUPS = (1 << 10) - 1
BULK_WAITED, PRODUCTS_WAITED = -(1 << 21), -(1 << 22)


def offsets() -> dict[str, int]:
    """Names of fields and constants, as runtime.ll has them in braces: LAUNCH.log, LOG_FULL."""
    found = {
        f"{title}.{name}": int(dtype.fields[name][1])  # type: ignore[index]
        for title, dtype in (
            ("LAUNCH", LAUNCH),
            ("BLOCK", BLOCK),
            ("WARP", WARP),
            ("ACTIVATION", ACTIVATION),
            ("TEXTURE", TEXTURE),
            ("TENSOR_MAP", TENSOR_MAP),
            ("SEEN", SEEN),
            ("TIMING", TIMING),
            ("CLOCK", CLOCK),
        )
        for name in dtype.names or ()
    }
    return found | {name: value for name, value in globals().items() if name.isupper() and isinstance(value, int)}
