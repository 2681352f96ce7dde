"""Blocks held by what their threads have in common, and the way from events to that and back.

layout      the tables: structures, nodes, steps
growing     a block's events as a tree of what threads do, one after another
parting     from the tree to nodes and steps
folding     steps that come again and again as loops
encoding    all of that, block by block; blocks that are alike share a structure
decoding    events again
summing     sums over events, for digests
counting    what is counted of a trace
blocks      all of it for Python
known       what was found of blocks that do the same
"""
