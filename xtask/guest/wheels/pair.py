"""Two processes that talk over a pipe, for the scripts that run wheels on the device.

A script prints a line per test: its title, a tab, and "ok" or what went wrong.
"""

import functools
import os
import re
import subprocess
import sys

LIMIT = 60


@functools.lru_cache(maxsize=4)
def patterned(size, seed):
    """Bytes in which no two words of 8 bytes in a row are the same, different for each seed."""
    words = (number * 0x9E3779B97F4A7C15 + seed & 0xFFFFFFFFFFFFFFFF for number in range(1 << 16))
    block = b"".join(word.to_bytes(8, "little") for word in words)
    return (block * (size // len(block) + 1))[:size]


def libraries():
    """The files named libibverbs.so... that are mapped here."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return sorted(set(re.findall(r"(?m)/\S*/libibverbs\.so\S*$", maps.read())))


def received_on_loopback():
    """How many bytes have gone over the loopback interface."""
    with open("/proc/self/net/dev", encoding="ascii") as table:
        return int(next(line.split()[1] for line in table if line.strip().startswith("lo:")))


def tell(title, wrong):
    """Prints the line of a test."""
    print(f"{title}\t{wrong or 'ok'}", flush=True)


class Peer:
    """The other process: the same script with the argument "peer"."""

    def __init__(self, log):
        self.log = open(log, "wb")
        self.process = subprocess.Popen(
            [sys.executable, sys.argv[0], "peer"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
        )

    def ask(self, question):
        """Sends a line and hands back the answer."""
        self.process.stdin.write(f"{question}\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def end(self):
        """Lets it end; its exit code."""
        self.process.stdin.close()
        try:
            return self.process.wait(LIMIT)
        finally:
            self.process.kill()
            self.log.close()


def answer(function):
    """Answers each line on standard input with what the function makes of it."""
    # What libraries print must not come between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        print(function(line.strip()), file=answers, flush=True)
