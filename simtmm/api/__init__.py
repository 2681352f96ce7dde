"""The functions of `import simtmm`: the steps from a kernel to a result, which accept names, paths and objects."""
