"""A launch from a machine and a workload: its arrays, and what it takes over from the launches before it.

launch         the arrays, and the calls of the compiled loops
part, tables   the part of a workload that it is; the arrays that it begins with
room, bounds   whether these fit in memory, and its ticks 64 bits
reused         arrays that launches share; warming: what it finds in the L2
equal          launches that one before them stands for
"""
