"""Checks as of compute-sanitizer, on the CPU: races, reads of what nobody has written, barriers (docs/checks.md)."""
