"""Memory, of the reference engine: the path of chunks, and what stands at it (docs/machine.md, section 4).

path        an instruction's chunks, from the ports to their finish    pipe        what accesses of a group pass
shared_l1   caches that some groups share before it
l2          the cache of all groups and its slices                     partitions  global memory
cache       lines of caches, open rows, translations                   sectors     of chunks
loaded      what warps loaded, for which their stores wait             counted     what is counted of chunks
way         where the ticks of an access go
"""
