"""All processes that simtmm starts; each ends with the process that started it (docs/threats.md).

safe_path   nothing is imported from the working directory
environment the variables that a child gets
family      who belongs to us, and the process that ends them should we be killed (guard)
start       a tool that is run to its end, within limits; a process that goes on
bond        a Python program as a child: it ends when its parent does
forked      a module of ours as a child, which needn't import again what we have imported
workers     pools of processes, of Python's and of Dask's
ending      signals to the command line
brief       a process for one command, which need not be taken apart
"""
