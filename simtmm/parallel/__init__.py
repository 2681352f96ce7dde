"""Parallel: tasks one after another, on all cores of this machine, or on a Dask cluster."""
