"""Validation: published measurements beside what simulation and models say, and how far these are off."""
