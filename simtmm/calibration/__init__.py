"""Calibration: what small benchmarks show about a machine, and the machine that results."""
