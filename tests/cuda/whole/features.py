"""What drawn kernels are made of. A kernel has some of it: where all has everything, each hides the others."""

from random import Random

# How often a kernel has each
SHARES = {
    "small": 0.5, "int128": 0.2, "float": 0.5, "double": 0.3, "half": 0.2, "divide": 0.5, "intrinsics": 0.6,
    "fmod": 0.04, "rounding": 0.3, "arrays": 0.4, "shared": 0.5, "warp": 0.5, "atomics": 0.4, "calls": 0.5,
    "recursion": 0.08, "pointers_to_functions": 0.08, "virtual": 0.06, "lambdas": 0.25, "templates": 0.3,
    "structs": 0.35, "unions": 0.2, "bit_fields": 0.2, "vectors": 0.35, "volatile": 0.15, "goto": 0.15,
    "pointers": 0.35, "tables": 0.4, "globals": 0.25, "loops": 0.8, "switch": 0.4, "exit": 0.25, "large": 0.15,
    "warp_functions": 0.25, "by_pointer": 0.25, "own_cells": 0.4, "own_atomics": 0.25, "constants": 0.25,
}  # fmt: skip


def draw_features(random: Random) -> frozenset[str]:
    """Some features."""
    return frozenset(name for name, share in SHARES.items() if random.random() < share)
