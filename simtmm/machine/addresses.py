"""Byte addresses, as traces have them: global memory below, local memory above (docs/machine.md, section 9)."""

LARGEST_GLOBAL = (1 << 60) - 1  # bytes
LOCAL_BASE = 1 << 61  # the first byte of local memory
