"""The neighbourhoods that clusters of a launch are placed in (section 6)."""

import numpy as np

from simtmm.engine.fast import layout as at
from simtmm.engine.fast.launches.part import Part, is_clustered
from simtmm.engine.fast.launches.reused import Reused
from simtmm.engine.fast.launches.tables import Integers
from simtmm.machine import Machine
from simtmm.native import Rows


def cluster_arrays(reused: Reused, parameters: Integers, machine: Machine, part: Part) -> dict[str, Integers]:
    """The arrays of a launch by which its clusters are placed, small ones where it has none.

    parameters: of the launch, which are told how many blocks are a cluster.
    """
    if not is_clustered(machine, part):
        return {name: reused.zeros(name, 1) for name in ("neighbourhoods", "tried")}
    cluster = min(part.cluster, max(1, part.blocks))
    Rows(parameters, at.Parameters).cluster = cluster
    return {
        "neighbourhoods": reused.like("neighbourhoods", np.array, machine.neighbourhoods, np.int64),
        "tried": reused.anything("tried", cluster),
    }
