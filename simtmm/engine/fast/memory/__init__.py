"""Memory, of the fast engine: the path of chunks, and what stands at it (docs/machine.md, section 4).

path          an instruction's chunks, from the ports to their finish
pipe          the pipe that accesses of a group pass
l1, l2        the caches of a group, and of all groups
partitions    global memory
cache         lines of caches, open rows
sectors       of chunks
translations  of addresses
"""
