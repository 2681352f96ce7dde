"""Launches on a machine: occupancy, block scheduling, and which configurations are fast or optimal."""
