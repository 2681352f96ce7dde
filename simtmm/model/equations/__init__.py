"""What equations are made of: formulas, symbols with their domains, and functions over numbers, arrays and symbols."""
