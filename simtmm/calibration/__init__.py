"""Calibration: a machine from the results of small benchmarks."""
