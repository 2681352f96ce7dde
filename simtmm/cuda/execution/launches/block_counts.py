"""How many blocks of a launch run at once, before anyone looks up."""

MOST_BLOCKS = 1 << 12  # that run before anyone looks up
LONGEST = 0.03  # seconds that they should take
MOST_LOGGED = 1 << 23  # bytes that they should log


class Sizes:
    """How many blocks run at once: as many as take a moment, and log no more than memory should hold."""

    def __init__(self, record: bool) -> None:
        self.blocks, self.known = 1, False
        self._record = record

    def learn(self, blocks: int, seconds: float, logged: int) -> None:
        """Adjust the number of blocks of a call to the time, and the log entries, that blocks took."""
        most = MOST_BLOCKS
        if seconds > 0:
            most = min(most, int(blocks * LONGEST / seconds))
        if logged:
            most = min(most, int(blocks * MOST_LOGGED / logged))
        self.known = self.known or blocks >= 4 or seconds > LONGEST
        self.blocks = max(1, min(most, 4 * self.blocks))
