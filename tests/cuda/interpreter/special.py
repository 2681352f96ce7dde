"""Special registers."""

from tests.cuda.interpreter.thread import Thread

_LANE_MASKS = {
    "eq": lambda lane: 1 << lane,
    "lt": lambda lane: (1 << lane) - 1,
    "le": lambda lane: (2 << lane) - 1,
    "gt": lambda lane: 0xFFFFFFFF & ~((2 << lane) - 1),
    "ge": lambda lane: 0xFFFFFFFF & ~((1 << lane) - 1),
}
# Every block is a cluster of its own.
_CONSTANT = {
    "%smid": 0, "%nsmid": 1, "%gridid": 0, "%is_explicit_cluster": 0, "%cluster_ctarank": 0,
    "%cluster_nctarank": 1, "%cluster_ctaid": 0, "%cluster_nctaid": 1, "%current_graph_exec": 0,
    **{f"%pm{number}{width}": 0 for number in range(8) for width in ("", "_64")},
    **{f"%envreg{number}": 0 for number in range(32)},
}  # fmt: skip


def special(thread: Thread, name: str) -> int:
    """The value of a special register. Raises NotImplementedError."""
    launch = thread.block.launch
    base, _, axis = name.partition(".")
    triples = {
        "%tid": thread.index, "%ntid": launch.block, "%ctaid": thread.block.index, "%nctaid": launch.grid,
        "%clusterid": thread.block.index, "%nclusterid": launch.grid,
    }  # fmt: skip
    if base in triples:
        return 0 if axis == "w" else triples[base]["xyz".index(axis)]
    if name in launch.memory.registers:
        return launch.memory.registers[name]
    if base in _CONSTANT:
        return _CONSTANT[base]
    if name.startswith("%lanemask_"):
        return _LANE_MASKS[name[10:]](thread.lane)
    match name:
        case "%laneid":
            return thread.lane
        case "%warpid":
            return thread.number // 32
        case "%nwarpid":
            return len(thread.block.warps)
        case "%clock" | "%clock64" | "%globaltimer" | "%globaltimer_lo":
            return launch.clock
        case "%clock_hi" | "%globaltimer_hi":
            return launch.clock >> 32
        case "%dynamic_smem_size":
            return launch.dynamic_bytes
        case "%total_smem_size" | "%aggr_smem_size":
            return launch.shared_bytes
    raise NotImplementedError(f"special register {name} is not known")
