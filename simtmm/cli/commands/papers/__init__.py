"""The commands of `simtmm paper`: what the papers predict, and what they measured."""
