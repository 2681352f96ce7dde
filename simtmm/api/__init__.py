"""What `import simtmm` offers: the steps from a kernel to a result, each taking names and paths as well as objects."""
