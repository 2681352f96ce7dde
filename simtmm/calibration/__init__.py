"""Calibration: what small benchmarks tell of a machine, and the machine that they make."""
