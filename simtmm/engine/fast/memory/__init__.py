"""Memory, of the fast engine: the path of chunks, and what stands at it (docs/machine.md, section 4)."""
