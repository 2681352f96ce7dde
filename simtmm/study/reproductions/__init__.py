"""Reproductions: published measurements, simulated and modelled anew; a module each.

A reproduction is a function `(watch) -> tuple[Accuracy, ...]`, a table for each question it asks. Its measured values
lie in traces/measured/ with their source; its machines are those of machines/. It is deterministic: the same version
gives the same numbers.
"""
