"""The checks of compute-sanitizer, on the CPU: races, reads of uninitialised memory, barriers (docs/checks.md)."""
