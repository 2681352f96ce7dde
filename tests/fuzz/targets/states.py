"""States and messages of the live page: samples and values."""

import json

from tests.fuzz.mutations import TEXTS

VALUES = [
    "nan", "inf", "-1", "0", "1", "2", "3", "0.5", "1e-300", "1e14", "1e15", "1e400", "9" * 400, "9" * 1900, "", "none",
    "off", "unlimited", "fifo", "oldest", "on-stall", "8", "33", "64", "1000", "32768", "copy", "gtx480", "classroom",
    "../classroom", "/etc/passwd", "stride", "\udcff", *TEXTS,
]  # fmt: skip
STATE = b"k=copy&m=classroom&p.n=64&latency=800&b.latency=100&b.p.n=64&drag=latency&v.group=1"
NAMES = ["k", "m", "drag", "p.pattern", "p.stride", "p.threads", "p.none", "p.seed", "v.x", "b.k", "b.m", "zz", "", "."]
SIZES = ["1", "64", "100", "0", "-1", "nan", "1e400", "9" * 400, "x"]  # of what is recorded: more takes its time
MESSAGE = json.dumps({"number": 1, "state": "latency=100"}).encode()
