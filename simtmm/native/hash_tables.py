"""What loops over hash tables have in common."""

SPREAD = 0x9E3779B97F4A7C1  # a factor that spreads keys over a table: 2^60 over the golden ratio, odd
