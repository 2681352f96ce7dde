"""Where a launch's operations come from: the arrays of a workload, or windows that a stream of a trace fills.

operations      which of the two, for the launch
windows         as warps see them: filled where they come to the end of one
window_thread   the thread that fills them beside the engine
"""
