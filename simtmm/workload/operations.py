"""The operations of warps by number, and how large their amounts may be."""

from simtmm.stalls import Place, Places

COMPUTE, SHARED, LOAD, ASYNC, STORE, ATOMIC, JOIN, BARRIER, PAUSE, SYNC = range(10)  # from JOIN on control
OPERATIONS = ("compute", "shared", "load", "async", "store", "atomic", "join", "barrier", "pause", "sync")
LARGEST = 2**63 - 1

OPERATION_PLACES = Places(tuple(Place(name) for name in OPERATIONS))
"""Where operations without places come from: from themselves, by their numbers."""
