"""Memory, of the fast engine: the path of chunks, and what stands at it (docs/machine.md, section 4).

path           an instruction's chunks, from the ports to their finish, step by step
kinds          what an instruction's kind says of that
port, pipe     how chunks leave their group; the pipe that accesses of a group pass
l1             the cache of a group
l2, through_l2, waiting_stores    that of all groups: its slices and lines, what it has of a chunk, stores that join
shared_l1      those that some groups share before it
partitions     global memory
cache          lines of caches, open rows
sectors        of chunks
translations   of addresses
path_ticks     where the ticks of an access go
"""
