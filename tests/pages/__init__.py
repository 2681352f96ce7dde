"""The examples of README.md and docs/*.md: commands with what they print, lines of Python, and files.

`python -m tests.pages` executes them all and compares. The suite looks at each (tests/test_pages.py), and executes
those of pages that have tests of their own.
"""
