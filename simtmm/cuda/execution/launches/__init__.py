"""Launches of translated code: their state in memory, which blocks run when and on which core, and how they end.

run, clusters, block_counts   blocks in their order, on several cores
launch, device_memory         the state of a launch and its blocks; global and constant memory
log_order                     the log of all cores, in the order of blocks
endings                       errors that end a launch
"""
