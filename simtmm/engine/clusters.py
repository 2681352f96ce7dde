"""Whether clusters of blocks fit a machine, told before a run (machine rules, section 6)."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from simtmm.errors import WorkloadError
from simtmm.machine import Machine
from simtmm.trace.streamed import AnyWorkload, StreamedWorkload


def check_clusters_fit(machine: Machine, workload: AnyWorkload) -> None:
    """Raise WorkloadError if some cluster fits no empty neighbourhood of the machine's core groups."""
    sizes = {end - begin for begin, end in pairwise(machine.neighbourhoods)}
    if not sizes:
        return
    for launch in range(workload.launches):
        cluster = workload.cluster_of(launch)
        if cluster == 1:
            continue
        limits = machine.limits.blocks_per_group, int(workload.launch_limits[launch]) or None
        most = min((limit for limit in limits if limit is not None), default=machine.warps_per_group + cluster)
        tried: set[tuple[int, ...]] = set()
        for first, warps in _clusters(workload, launch, cluster):
            if warps not in tried and not any(_fits(machine, warps, groups, most) for groups in sizes):
                raise WorkloadError(
                    f"{workload.origin}: launch {launch}, blocks {first} to {first + len(warps) - 1}: a cluster of "
                    f"{len(warps)} blocks fits no {max(sizes)} core groups of {machine.name}, in which clusters are "
                    f"placed (cores.cluster_groups = {machine.cores.cluster_groups}): launch smaller clusters, or "
                    "blocks of which more fit a group"
                )
            tried.add(warps)


def _clusters(workload: AnyWorkload, launch: int, cluster: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """The first block of each cluster of a launch, counted from its first, and the warps of the cluster's blocks."""
    begin, end = (int(block) for block in workload.launch_blocks[launch : launch + 2])
    if isinstance(workload, StreamedWorkload):
        yield 0, (int(workload.warps_of_blocks[launch]),) * min(cluster, end - begin)
        return
    warps = np.diff(workload.block_warps[begin : end + 1]).tolist()
    for first in range(0, len(warps), cluster):
        yield first, tuple(warps[first : first + cluster])


def _fits(machine: Machine, warps: Sequence[int], groups: int, most: int) -> bool:
    """Whether blocks with so many warps each fit empty core groups one after another, as they are placed."""
    resident = [[0, number, 0] for number in range(groups)]  # blocks, number, warps
    for count in warps:
        fitting = [each for each in resident if each[0] < most and each[2] + count <= machine.warps_per_group]
        if not fitting:
            return False
        taken = min(fitting)
        taken[0] += 1
        taken[2] += count
    return True
