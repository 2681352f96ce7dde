"""What both engines hold of users' scheduling rules that give no ready warp: how long, and what is refused."""

MOST_HOLDS = 300_000  # answers of a rule in a row that grant nobody: seconds in which nothing comes of it
LARGEST = 2**62 - 1  # ticks at which a rule may want to be asked again


def for_ever(name: str, group: int, tick: int, ready: int) -> str:
    """That a rule holds back where nothing happens any more."""
    warps = f"{ready} warps are" if ready > 1 else "a warp is"
    return (
        f"scheduler {name}: holds back for ever in group {group} from tick {tick} on: {warps} ready and nothing else "
        "happens: give one of them, or Idle(until)"
    )


def too_often(name: str, group: int, tick: int, most: int) -> str:
    """That a rule held back as often as it may, and nothing came of it."""
    return f"scheduler {name}: held back {most} times in a row in group {group}, until tick {tick}"


def no_later_tick(name: str, until: str, now: int) -> str:
    """That a rule wants to be asked again at a tick that is none."""
    return f"scheduler {name}: gave Idle(until={until}) at tick {now}: must be a later tick, up to {LARGEST}"


def not_ready(name: str, given: str, now: int) -> str:
    """That a rule gives what is no ready warp."""
    return f"scheduler {name}: gave {given} at tick {now}: must be a ready warp, None or Idle(until)"
