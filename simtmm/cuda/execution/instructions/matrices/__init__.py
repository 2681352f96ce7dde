"""Instructions by which warps multiply matrices, and move them between memory and the lanes that hold them."""
