"""Instructions that compute with numbers in registers: integers, floating-point numbers, bits, and between them."""
