"""Pictures for papers and slides, as PNG, SVG or PDF: scatter, curves, heat map, roofline, zigzag, stacks.

matplotlib is imported when a picture is made, and nowhere else; it is the extra `plot`. Figures are made without
pyplot, so nothing is shown and no state is shared.
"""
