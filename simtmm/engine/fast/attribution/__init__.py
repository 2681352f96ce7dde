"""Where time goes, and what passes memory over time (sections 7 and 10).

group_time            what a group's ticks went into
stalls, stall_table   what warps' ticks went into, by place and reason
last_waits            what warps waited for last, for those that wait for them
traffic               chunks over time
"""
