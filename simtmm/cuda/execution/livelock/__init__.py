"""Threads that loop for ever: found while a launch runs, and proved before they are reported."""
