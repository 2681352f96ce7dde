"""Special registers: the place of a thread in its launch, and properties of the machine."""

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING

from simtmm.cuda.execution.layout import (
    ALIGN,
    BLOCK,
    GRID_WORKSPACE,
    LANES,
    LAUNCH,
    RESERVED_BYTES,
    RESERVED_FOR_GROUPS,
    WARP,
)
from simtmm.cuda.execution.runtime.device_clock import read_clock
from simtmm.cuda.execution.translation.emit import Value, lanes

if TYPE_CHECKING:
    from simtmm.cuda.execution.translation.context import Context

Reader = Callable[["Context"], Value]


def special_register(context: "Context", name: str) -> Value:
    """What a special register holds: <32 x i32> or <32 x i64>. Raises PtxError for one that is not known."""
    reader = _READERS.get(name)
    if reader is None:
        raise context.refuse(f"reads {name}, which is not known")
    return reader(context)


def _offset(structure: object, field: str) -> int:
    return int(structure.fields[field][1])  # type: ignore[attr-defined]


def _scalar(pointer: str, structure: object, field: str, type_name: str = "i32", extra: int = 0) -> Reader:
    def read(context: "Context") -> Value:
        return context.emit.splat(context.emit.field(type_name, pointer, _offset(structure, field) + extra))

    return read


def _of_cluster(pointer: str, structure: object, field: str, axis: int, how: str) -> Reader:
    """Along an axis, divided by the blocks of a cluster, or what is left of that."""

    def read(context: "Context") -> Value:
        emit = context.emit
        number = emit.field("i32", pointer, _offset(structure, field) + 4 * axis)
        wide = emit.field("i32", "%launch", _offset(LAUNCH, "cluster") + 4 * axis)
        return emit.splat(emit.binary(how, number, wide))

    return read


def _thread(axis: int) -> Reader:
    def read(context: "Context") -> Value:
        emit = context.emit
        table = emit.field("ptr", "%launch", _offset(LAUNCH, "thread_ids"))
        number = emit.field("i32", "%warp", _offset(WARP, "number"))
        skipped = emit.binary("mul", emit.resize(number, "i64", False), emit.constant(3 * 128, "i64"))
        return emit.load(lanes("i32"), emit.at(emit.at(table.name, skipped), axis * 128), ALIGN)

    return read


def _lane_mask(relation: str) -> Reader:
    """The mask of the lanes that stand in a relation to one's own."""

    def read(context: "Context") -> Value:
        compares = getattr(operator, relation)
        masks = [sum(1 << other for other in range(LANES) if compares(other, lane)) for lane in range(LANES)]
        return Value(f"<{', '.join(f'i32 {mask}' for mask in masks)}>", lanes("i32"))

    return read


def _constant(number: int, element: str = "i32") -> Reader:
    return lambda context: context.emit.constant(number, lanes(element))


def _clock(element: str, shift: int = 0, in_nanoseconds: bool = False) -> Reader:
    def read(context: "Context") -> Value:
        emit = context.emit
        now = read_clock(context, in_nanoseconds)
        if shift:
            now = emit.binary("lshr", now, emit.constant(shift, "i64"))
        return emit.splat(emit.resize(now, element, False))

    return read


def _grid_workspace(context: "Context") -> Value:
    """Where the blocks of a grid meet: what cooperative groups count them in."""
    context.code.program.meets_as_grid = True
    return context.emit.constant(GRID_WORKSPACE, lanes("i32"))


def _lane(context: "Context") -> Value:
    return context.emit.iota("i32")


def _dynamic_shared_bytes(context: "Context") -> Value:
    return context.code.dynamic_shared_bytes(context)


def _shared_bytes(context: "Context") -> Value:
    """Of the block, without those for the system."""
    emit = context.emit
    whole, reserved = (
        emit.field("i64", "%launch", _offset(LAUNCH, name)) for name in ("shared_bytes", "reserved_bytes")
    )
    return emit.splat(emit.resize(emit.binary("sub", whole, reserved), "i32", False))


def _reserved(offset: int) -> Reader:
    """A place in the system's part of shared memory, which a kernel that asks for it has at the end."""

    def read(context: "Context") -> Value:
        emit = context.emit
        end = emit.resize(emit.field("i64", "%launch", _offset(LAUNCH, "shared_bytes")), "i32", False)
        return emit.splat(emit.binary("sub", end, Value(str(RESERVED_BYTES - offset), "i32")))

    return read


def _processor(context: "Context") -> Value:
    """Of the multiprocessors that blocks are dealt to in turn."""
    emit = context.emit
    block = emit.resize(emit.field("i64", "%block", _offset(BLOCK, "number")), "i32", False)
    count = emit.field("i32", "%launch", _offset(LAUNCH, "processors"))
    return emit.splat(emit.binary("urem", block, count))


_OF_AXES = (
    "tid", "ntid", "ctaid", "nctaid", "clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid",
)  # fmt: skip
_READERS: dict[str, Reader] = {
    **{f"%tid.{axis}": _thread(n) for n, axis in enumerate("xyz")},
    **{f"%ntid.{axis}": _scalar("%launch", LAUNCH, "block", extra=4 * n) for n, axis in enumerate("xyz")},
    **{f"%ctaid.{axis}": _scalar("%block", BLOCK, "index", extra=4 * n) for n, axis in enumerate("xyz")},
    **{f"%nctaid.{axis}": _scalar("%launch", LAUNCH, "grid", extra=4 * n) for n, axis in enumerate("xyz")},
    **{f"%clusterid.{axis}": _of_cluster("%block", BLOCK, "index", n, "udiv") for n, axis in enumerate("xyz")},
    **{f"%nclusterid.{axis}": _of_cluster("%launch", LAUNCH, "grid", n, "udiv") for n, axis in enumerate("xyz")},
    **{f"%cluster_ctaid.{axis}": _of_cluster("%block", BLOCK, "index", n, "urem") for n, axis in enumerate("xyz")},
    **{f"%cluster_nctaid.{axis}": _scalar("%launch", LAUNCH, "cluster", extra=4 * n) for n, axis in enumerate("xyz")},
    **{f"%{name}.w": _constant(0) for name in _OF_AXES},
    "%cluster_ctarank": _scalar("%block", BLOCK, "cluster_rank"),
    "%cluster_nctarank": _scalar("%block", BLOCK, "cluster_size"),
    "%is_explicit_cluster": _scalar("%launch", LAUNCH, "is_clustered"),
    "%laneid": _lane,
    "%warpid": _scalar("%warp", WARP, "number"),
    "%nwarpid": _scalar("%launch", LAUNCH, "warps"),
    "%smid": _processor,
    "%nsmid": _scalar("%launch", LAUNCH, "processors"),
    "%gridid": _constant(1, "i64"),
    "%livingmask": _scalar("%warp", WARP, "living"),  # of machine code: the lanes that have not left
    **{f"%lanemask_{relation}": _lane_mask(relation) for relation in ("eq", "lt", "le", "gt", "ge")},
    "%clock": _clock("i32"),
    "%clock_hi": _clock("i32", 32),
    "%clock64": _clock("i64"),
    "%globaltimer": _clock("i64", in_nanoseconds=True),
    "%globaltimer_lo": _clock("i32", in_nanoseconds=True),
    "%globaltimer_hi": _clock("i32", 32, in_nanoseconds=True),
    "%dynamic_smem_size": _dynamic_shared_bytes,
    "%total_smem_size": _shared_bytes,
    "%aggr_smem_size": _shared_bytes,
    "%reserved_smem_offset_begin": _reserved(0),
    "%reserved_smem_offset_0": _reserved(0),
    "%reserved_smem_offset_1": _reserved(RESERVED_FOR_GROUPS),
    "%reserved_smem_offset_end": _reserved(RESERVED_BYTES),
    "%reserved_smem_offset_cap": _constant(RESERVED_BYTES),
    **{f"%envreg{number}": _constant(0) for number in range(32)},
    "%envreg2": _grid_workspace,  # the lower half of its address; the upper is %envreg1, which is 0
    **{f"%pm{number}": _constant(0) for number in range(8)},
    **{f"%pm{number}_64": _constant(0, "i64") for number in range(8)},
    "%current_graph_exec": _constant(0, "i64"),
}
