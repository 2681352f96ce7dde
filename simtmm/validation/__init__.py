"""Validation: published measurements compared with simulation and models, and the errors of these."""
