"""The loop over ticks: the phases of a step (section 2), and what moves a launch on by more than one.

loop       the phases        wake       the ends of waits
dispatch   placing of blocks (section 6); bits: free slots and places
lanes      groups that nothing couples, apart
jump       long computes
"""
