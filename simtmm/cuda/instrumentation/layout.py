"""What an instrumented kernel is given, and what it writes.

The host sets a variable of its module, RECORDER, of 64-bit words. The kernel writes entries into a buffer, one behind
the other: a warp's lanes that come to a site together claim room for an entry by one atomic addition to CLAIMED, so
that of two entries of a thread the later one lies behind. An entry that does not fit is claimed and not written: how
much was claimed in all shows what a run lacks.

An entry is a word with the number of the site (lower half) and the mask of the lanes; a word with block * 32 + warp;
and, of an access, an address for each lane of the mask, the lowest lane first, with its state space in the upper bits.
"""

RECORDER = "simtmm_recorder"
RECORDER_WORDS = 6
BUFFER, CAPACITY, CLAIMED, MOST, BLOCKS, SYMBOLS = range(RECORDER_WORDS)
"""The buffer's address, and its bytes. Bytes that were claimed so far. Claimed bytes beyond which threads end: they
loop for ever. The address of a bit for each block, whether it is recorded, in words of 32 bits. The address of a word
for each symbol (module.py), which kernels fill with the symbol's address in its state space."""

HEAD_BYTES = 16  # of an entry
ADDRESS_BYTES = 8
LARGEST_ENTRY = HEAD_BYTES + 32 * ADDRESS_BYTES
WARP_BITS = 5  # of the second word: a block has 32 warps at most

SPACE_SHIFT = 60  # of an address: its state space stands above
GLOBAL, SHARED, LOCAL, CONST = range(4)
SPACES = {"global": GLOBAL, "shared": SHARED, "local": LOCAL, "const": CONST}
UNKNOWN = (1 << 64) - 1  # in the place of a symbol's address: no thread has come by
