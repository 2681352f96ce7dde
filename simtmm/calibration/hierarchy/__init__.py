"""What lies between a thread and memory, fitted jointly: the L1's strides and buffers, the L2's, and small kernels.

measured     rows of the four kinds of measurements, and which of them a machine's values decide
workloads    what each row runs, laid out at once
simulated    the rows on a machine, each kind simulated again only where a value that it feels has changed
joint        the fit of all of them together, which is never worse than the machine that it begins with
refined      a calibration by other measurements with what they add
"""
