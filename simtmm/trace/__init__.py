"""Traces: what threads did, whatever the machine."""
