"""Threads that go round for ever: found while a launch runs, and proved before anybody is told."""
