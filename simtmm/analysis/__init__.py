"""Analyses of one or a few programs and machines: run, predict, compare, tune, and their results in words."""
