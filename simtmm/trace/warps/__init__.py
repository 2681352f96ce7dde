"""Threads of a block as warps in lockstep, read from its runs; simtmm/trace/lower.py defines their operations.

layout      the tables of a walk: warps, and the groups of lanes that are at the same place
groups      how groups go along the nodes of a block, and part
lanes       the values of the lanes that take part in a step
accesses    the chunks that they list; shared_memory, half_warps likewise
arrivals    when what a step needs is there
holding     computes and pauses, which the next ones may join, and turns of work
walk        a warp's operations, one after another, up to where room ends
acts        what the lanes of a step do behind what their site says
barriers    lanes that wait at a barrier
blocks      all warps of some blocks
"""
