#!/usr/bin/env python3
"""Compares the control paths of two libraries in one boot.

usage: control.py PROGRAM UPSTREAM OURS [ROUNDS [TURNS]]

Prints a row per operation: system calls of both, median times in microseconds, and ratios of the
times: of the medians, and of the fastest tenth, which others' load disturbs less. Each is the
median of the ratios of TURNS turns, in each of which both libraries are measured one after the
other. Ends with exit status 1 if an operation takes more system calls than with the original.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile

PROGRAM, UPSTREAM, OURS = sys.argv[1:4]
ROUNDS = sys.argv[4] if len(sys.argv) > 4 else "100"
TURNS = int(sys.argv[5]) if len(sys.argv) > 5 else 5

# The most system calls that the first list of devices may take.
FIRST_LIST = 80


def measure(library, *arguments):
    """What the program says of a library: {operation: numbers}."""
    output = subprocess.run(
        [PROGRAM, library, *arguments], stdout=subprocess.PIPE, check=True, timeout=600
    ).stdout.decode()
    lines = (line.split("\t") for line in output.splitlines())
    return {name: [int(value) for value in values] for name, *values in lines}


def main():
    """Measures and prints."""
    # Both in memory: the file systems of the machine differ in speed.
    folder = tempfile.mkdtemp()
    libraries = [
        shutil.copy(os.path.realpath(path), os.path.join(folder, f"{name}.so"))
        for name, path in (("upstream", UPSTREAM), ("ours", OURS))
    ]
    calls = [measure(library, "calls", "rxe0") for library in libraries]
    turns = []
    for turn in range(TURNS):
        # Whoever comes first may find a colder machine.
        order = libraries if turn % 2 else libraries[::-1]
        times = {library: measure(library, "time", "rxe0", ROUNDS) for library in order}
        turns.append([times[library] for library in libraries])
    print(f"{'operation':24} {'calls':>6} {'ours':>6} {'us':>9} {'ours':>9} {'ratio':>6} "
          f"{'min-max':>10} {'fast':>6}")
    worse = []
    for name in turns[0][0]:
        ratios = [
            [ours[name][which] / max(upstream[name][which], 1) for upstream, ours in turns]
            for which in range(2)
        ]
        medians = [statistics.median(turn[i][name][0] for turn in turns) / 1000 for i in range(2)]
        theirs, mine = (of.get(name, [0])[0] for of in calls)
        spread = f"{min(ratios[0]):.2f}-{max(ratios[0]):.2f}"
        print(
            f"{name:24} {theirs:6} {mine:6} {medians[0]:9.1f} {medians[1]:9.1f} "
            f"{statistics.median(ratios[0]):6.2f} {spread:>10} {statistics.median(ratios[1]):6.2f}"
        )
        if mine > theirs:
            worse.append(f"{name}: {mine} system calls, {theirs} with the original")
    if calls[1]["device list, first"][0] > FIRST_LIST:
        worse.append(f"first list: more than {FIRST_LIST} system calls")
    for line in worse:
        print(line)
    return 1 if worse else 0


sys.exit(main())
