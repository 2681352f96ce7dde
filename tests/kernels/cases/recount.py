"""What several cases count with: a kernel's inputs, and the events of pointer jumping."""

from simtmm.kernel import load_kernel


def inputs_of(name, parameters):
    """The arrays that the kernel starts with."""
    kernel = load_kernel(name)
    return kernel.inputs(kernel.resolve(parameters))


def depths(parent):
    """How many steps each vertex is from its root, along a dict or list of parents."""
    found = []
    for vertex in range(len(parent)):
        depth = 0
        while parent[vertex] != vertex:
            vertex, depth = parent[vertex], depth + 1
        found.append(depth)
    return found


def jumping(parent):
    """Events of jumping until all trees are stars: a pass has two loads, work and a store a vertex, and a flag for one
    that moved. A jump halves a depth, rounded up; the last pass finds nothing to move.
    """
    left, count = depths(parent), 0
    while True:
        moved = sum(depth > 1 for depth in left)
        count += 4 * len(left) + moved
        if not moved:
            return count
        left = [(depth + 1) // 2 for depth in left]
