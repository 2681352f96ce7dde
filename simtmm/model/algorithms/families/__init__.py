"""The algorithms themselves: their symbols, equations and sources, a family a module."""
