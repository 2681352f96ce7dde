"""The counters of a configuration of the convolution: some blocks counted, and weighed by how many are like them."""

from simtmm.validation.counters.convolution import CompiledConvolution, Configuration
from simtmm.validation.counters.executions import Executions, Integers, executions
from simtmm.validation.counters.issued import CLASSES, IssuedInstructions


def counters(configuration: Configuration) -> dict[str, float]:
    """What is counted of a launch, by the names that a file of measured counters has; and code_bytes, of machine code.

    fp32_thread_instructions and its like: instructions that threads executed with a true predicate. warp_instructions:
    instructions that warps issued. global_load_requests: loads of global memory that warps issued. *_wavefronts: times
    that the banks of shared memory were gone to. l2_read_sectors: different sectors of global memory that each block
    loads. l2_write_sectors: sectors of each store of a warp, of global and local memory.

    Raises CompilerError, PtxError or SassError where it can't be compiled, StudyError where it computes wrongly.
    """
    compiled = CompiledConvolution(configuration)
    issued = IssuedInstructions(compiled.function)
    resources = compiled.resources
    groups = list(configuration.samples())
    trace = compiled.trace(sorted(number for _, blocks in groups for number in blocks))
    counted = executions(trace, issued.followers)
    kinds = {site.site: site.kind for site in trace.info.sites}
    of_blocks = _of_blocks(counted, issued, kinds)
    place = {int(number): at for at, number in enumerate(counted.blocks)}
    found = dict.fromkeys(of_blocks, 0.0)
    for weight, blocks in groups:
        for name, values in of_blocks.items():
            found[name] += weight * sum(float(values[place[number]]) for number in blocks) / len(blocks)
    return {
        "registers_per_thread": float(resources.registers),
        "shared_bytes": float(resources.shared_bytes),
        "code_bytes": 16.0 * len(compiled.function.lifted.listing.instructions),
        **found,
    }


def _of_blocks(counted: Executions, issued: IssuedInstructions, kinds: dict[int, str]) -> dict[str, Integers]:
    """Of each block, by the counters' names."""

    def sites(*names: str) -> list[int]:
        return [number for number, kind in kinds.items() if kind in names and number < counted.warps.shape[1]]

    by_threads = issued.by_threads(counted)
    return {
        "warp_instructions": issued.by_warps(counted),
        **{f"{name}_thread_instructions": by_threads[name] for name in CLASSES},
        "global_load_requests": counted.warps[:, sites("load", "async")].sum(axis=1),
        "shared_load_wavefronts": counted.wavefronts[:, sites("shared_load")].sum(axis=1),
        "shared_store_wavefronts": counted.wavefronts[:, sites("shared_store")].sum(axis=1),
        "l2_read_sectors": counted.read_sectors,
        "l2_write_sectors": counted.sectors[:, sites("store", "local_store")].sum(axis=1),
    }
