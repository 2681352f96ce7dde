"""What follows from a function's instructions, before any of them runs: its paths, and what flows along them.

basic_blocks, loops      the order of blocks; strongly connected ones
registers, origins       what an instruction reads and writes; where an address comes from
dependence, spinning     the memory that decides a path; loops in which threads wait for others
steps, work              what a trace records of a block; the classes of work
"""
