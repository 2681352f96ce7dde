"""Measured times, micro-kernels and calibrations, as a person reads them."""
