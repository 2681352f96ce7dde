"""The letters that the papers share: one meaning, one unit, one domain each.

Source: Ma, dissertation (2014), Tables 3.1 and 3.2.
"""

from simtmm.model.equations.formula import Symbol

# A program
T1 = Symbol("T1", "work: operations of all threads", "operations", latex="T_1")
TINF = Symbol("Tinf", "span: operations on the longest path", "operations", latex="T_\\infty")
M = Symbol("M", "memory operations: transfers of a chunk of C words", "transfers")
T = Symbol("T", "threads in use on a core", "threads per core", above=True)
N_W = Symbol("N_W", "warps in use on the machine", "warps", above=True)
S = Symbol("S", "shared memory that a thread uses", "words per thread")
SUB_BLOCK = Symbol("S_D", "side of a sub-block in shared memory", "words", minimum=1)

# A machine
P = Symbol("P", "cores", minimum=1, whole=True)
Q = Symbol("Q", "cores of a core group", minimum=1, whole=True)
L = Symbol("L", "latency of global memory", "cycles", above=True)
C = Symbol("C", "memory access width", "words", minimum=1)
Z = Symbol("Z", "shared memory of a core group", "words", above=True)
Z_BYTES = Symbol("Z", "shared memory of a core group", "bytes", above=True)  # chapter 5 has it in bytes
X = Symbol("X", "threads that a core may hold", "threads per core", above=True)
