"""The operations of warps by number, and how large their amounts may be."""

from simtmm.stalls import CLASSES, Place, Places

COMPUTE, SHARED, LOAD, ASYNC, STORE, ATOMIC, JOIN, BARRIER, PAUSE = range(9)  # from JOIN on control
OPERATIONS = ("compute", "shared", "load", "async", "store", "atomic", "join", "barrier", "pause")
OF_CLASS = len(OPERATIONS)
"""The number of a compute of the first of CLASSES; those of the others follow it."""
LARGEST = 2**63 - 1

OPERATION_PLACES = Places(tuple(Place(name) for name in (*OPERATIONS, *(f"compute {name}" for name in CLASSES))))
"""Where operations without places come from: from themselves, by their numbers."""
