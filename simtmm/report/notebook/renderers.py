"""What shows values in a notebook, by the names that simtmm/display.py has for them."""

from simtmm.report.notebook.html import html_of
from simtmm.report.notebook.picture import picture_of

__all__ = ["html_of", "picture_of"]
