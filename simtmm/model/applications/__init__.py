"""Models of single applications: hashing, Bloom filters, all-pairs shortest paths by sub-blocks."""
