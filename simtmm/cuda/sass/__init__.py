"""SASS, the machine's own instructions: disassembled, decoded, and lifted to PTX, so that the CPU can run them."""
