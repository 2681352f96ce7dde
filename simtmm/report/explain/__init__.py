"""What a run spends its time on: its source line by line, arrays, launches and reasons, as text and rows.

text: the tables. counted: what is counted beside. code: PTX and SASS below a line.
"""

from simtmm.report.explain.text import document, explained

__all__ = ["document", "explained"]
