"""What a launch wrote down, warp by warp, made events of a trace, thread by thread.

loops           the compiled loops over a log
alike           blocks whose log is another's but for addresses
cluster_waits   waits for what no other block does, left out
events          all of it, piece by piece as a launch runs
"""
