"""Figures and tables of the papers, as a person reads them: on a terminal, and as a folder with an index page."""
