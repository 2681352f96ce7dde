"""Instructions by class: when their values are there, the pipes that take them, the banks of shared memory."""

from simtmm.machine.values import Banked, Count, Duration, Positive, Shortly, Table, unit
from simtmm.stalls import CLASSES


class Banks(Table):
    """Banks of shared memory, for the conflict degree of shared accesses."""

    count: Banked = unit("banks", "banks of shared memory", default=32)
    word_bytes: Count = unit("bytes", "width of a bank", default=4)
    lanes: Count | None = unit("threads", "lanes of a warp served together; all of them if left out", default=None)
    latency: Shortly = unit("cycles", "from a shared load's leaving its port to the use of its value", default=0)
    remote_latency: Shortly = unit(
        "cycles", "likewise, from another block's of the cluster; 0: as from its own", default=0
    )
    remote_interval: Shortly = unit(
        "cycles", "that a pass of an access to another block's takes the group's way there", default=0
    )
    interval: Shortly = unit("cycles", "from one shared access of a group to the next, at least", default=0)
    service: Banked = unit("cycles", "that a pass takes the banks", default=1)
    atomic_passes: Banked = unit(
        "passes", "of an atomic, instead of one, for its read and write; with memory.pipe", default=1
    )

    @property
    def pass_bytes(self) -> int:
        """What a pass over all banks moves [bytes]."""
        return self.count * self.word_bytes


class Instructions(Table):
    """How long an instruction's value takes to be there for the next one of its warp, by class of work.

    The classes are those of traces (trace.schema.WORK_CLASSES) that compute; what a class leaves out takes no time.
    """

    fp32: Shortly | None = unit("cycles", "from an instruction of this class to one that needs its value", default=None)
    fp64: Shortly | None = unit("cycles", "likewise", default=None)
    fp16: Shortly | None = unit("cycles", "likewise", default=None)
    integer: Shortly | None = unit("cycles", "likewise", default=None)
    special: Shortly | None = unit("cycles", "likewise", default=None)
    tensor: Shortly | None = unit("cycles", "likewise", default=None)
    multiply: Shortly | None = unit("cycles", "likewise; that of integer if left out", default=None)


class Results(Table):
    """How long values take that machine code waits for by a scoreboard, as it does not say how long that is.

    The classes are trace.schema.RESULT_CLASSES; what a class leaves out takes no time.
    """

    special: Shortly | None = unit(
        "cycles", "from a function or conversion to an instruction that needs its value", default=None
    )
    shuffle: Shortly | None = unit("cycles", "likewise from a shuffle", default=None)
    fp64: Shortly | None = unit("cycles", "likewise from an instruction on doubles", default=None)
    tensor: Shortly | None = unit("cycles", "likewise from a product of matrices", default=None)


class Products(Table):
    """The pipes of a group that multiply matrices beside the warps, as warp groups have it done (wgmma)."""

    interval: Duration = unit("cycles", "a warp's 16 rows of 8 columns, by 32 bytes of depth, take a pipe so long")
    latency: Duration = unit("cycles", "from the end of a product to what waits for it", default=0)
    count: Count = unit("pipes", "pipes of a group; a warp uses that of its slot", default=1)


class Pipe(Table):
    """The pipes of a group for a class of instructions."""

    interval: Duration = unit("cycles", "an instruction of this class takes a pipe so long")
    count: Count = unit("pipes", "pipes of a group; a warp uses that of its slot", default=1)


class Pipes(Table):
    """Pipes by the class of instructions that they take; one of another class starts as it leaves its port."""

    fp32: Pipe | None = unit("", "for fp32", default=None)
    fp64: Pipe | None = unit("", "for fp64", default=None)
    fp16: Pipe | None = unit("", "for fp16", default=None)
    integer: Pipe | None = unit("", "for integers, logic and moves", default=None)
    special: Pipe | None = unit("", "for functions such as rsqrt", default=None)
    tensor: Pipe | None = unit("", "for products of small matrices", default=None)
    multiply: Pipe | None = unit("", "for products of integers; that of integer if left out", default=None)

    def each(self) -> tuple[Pipe | None, ...]:
        """Those of each class, in the order of CLASSES."""
        return tuple(getattr(self, name) for name in CLASSES)


class HongKim(Table):
    """What the MWP-CWP model of Hong and Kim takes beside the rest; it derives what is left out."""

    departure_delay_coalesced: Positive | None = unit(
        "cycles", "from the memory instruction of a warp to the next warp's, coalesced", default=None
    )
    departure_delay_uncoalesced: Positive | None = unit(
        "cycles", "from one transaction of an uncoalesced memory instruction to the next", default=None
    )
