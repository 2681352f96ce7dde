"""The commands of `simtmm sweep`: many points of a program or of an equation."""
