"""Studies: points over axes of machines and parameters, computed, kept, and what is found in them."""
