"""The least that any thread of a kernel does, read off its code without running it.

ranges    whole numbers that lie between two     values    what instructions give for such (instructions)
deciding  which of them decide where threads go  walk      all ways through a kernel at once, and what each takes
"""
