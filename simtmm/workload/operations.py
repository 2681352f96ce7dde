"""The operations of warps by number, and how large their amounts may be."""

COMPUTE, SHARED, LOAD, ASYNC, STORE, ATOMIC, JOIN, BARRIER, PAUSE = range(9)  # from JOIN on control
OPERATIONS = ("compute", "shared", "load", "async", "store", "atomic", "join", "barrier", "pause")
LARGEST = 2**63 - 1
