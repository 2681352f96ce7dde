"""Recording and timing on a GPU through CuPy."""
