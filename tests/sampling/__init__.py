"""Samples of programs."""
