"""What blocks do, and by how much they differ along a launch (docs/sampling.md, "Blocks that differ")."""
