"""The streaming kernels: their bandwidth over occupancy, simulated, and the machine that fits it."""
