#!/usr/bin/env python3
"""Compares the control paths of two libraries in one boot.

usage: control.py PROGRAM UPSTREAM OURS [ROUNDS [TURNS]]

Prints a row per operation: system calls of both, median times in microseconds, and the ratio of the
times: the median of the ratios of TURNS turns, in each of which both libraries are measured one
after the other. Ends with exit status 1 if an operation takes more system calls than with the
original.
"""

import statistics
import subprocess
import sys

PROGRAM, UPSTREAM, OURS = sys.argv[1:4]
ROUNDS = sys.argv[4] if len(sys.argv) > 4 else "100"
TURNS = int(sys.argv[5]) if len(sys.argv) > 5 else 5

# The most system calls that the first list of devices may take.
FIRST_LIST = 80


def measure(library, *arguments):
    """What the program says of a library: {operation: number}."""
    output = subprocess.run(
        [PROGRAM, library, *arguments], stdout=subprocess.PIPE, check=True, timeout=600
    ).stdout.decode()
    return {name: int(value) for name, value in (line.split("\t") for line in output.splitlines())}


def main():
    """Measures and prints."""
    calls = [measure(library, "calls", "rxe0") for library in (UPSTREAM, OURS)]
    turns = []
    for turn in range(TURNS):
        # Whoever comes first may find a colder machine.
        order = (UPSTREAM, OURS) if turn % 2 else (OURS, UPSTREAM)
        times = {library: measure(library, "time", "rxe0", ROUNDS) for library in order}
        turns.append((times[UPSTREAM], times[OURS]))
    print(f"{'operation':24} {'calls':>6} {'ours':>6} {'us':>9} {'ours':>9} {'ratio':>6}  min-max")
    worse = []
    for name in turns[0][0]:
        ratios = [ours[name] / max(upstream[name], 1) for upstream, ours in turns]
        medians = [statistics.median(turn[i][name] for turn in turns) / 1000 for i in range(2)]
        theirs, mine = calls[0].get(name, 0), calls[1].get(name, 0)
        print(
            f"{name:24} {theirs:6} {mine:6} {medians[0]:9.1f} {medians[1]:9.1f} "
            f"{statistics.median(ratios):6.2f}  {min(ratios):.2f}-{max(ratios):.2f}"
        )
        if mine > theirs:
            worse.append(f"{name}: {mine} system calls, {theirs} with the original")
    if calls[1]["device list, first"] > FIRST_LIST:
        worse.append(f"first list: more than {FIRST_LIST} system calls")
    for line in worse:
        print(line)
    return 1 if worse else 0


sys.exit(main())
