"""PTX and machine code that disagree: whether order or rounding explains it, and if not, where they part."""
