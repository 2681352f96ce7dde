"""Notebooks of docs/notebooks, executed as Python: their outputs are written, or compared with those that are stored.

A cell is executed as Jupyter does it, statements and then the value of a last expression, in the process itself: no
kernel is started, so that a test costs what the cells cost, and needs no socket and no package of Jupyter.
"""
