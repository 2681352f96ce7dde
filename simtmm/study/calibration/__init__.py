"""Calibration: what small benchmarks tell of a machine, part by part; simtmm.study.calibrate puts them together."""
