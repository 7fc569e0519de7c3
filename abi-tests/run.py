#!/usr/bin/env python3
"""Runs the test programs with two libraries in turn and compares what they print.

usage: run.py PROGRAMS RESULTS OURS [--only PART]... [--sets SET,...]

PROGRAMS is the folder with the compiled programs, RESULTS a folder for what they print, OURS a
folder with the libibverbs.so.1 under test, or "" to compare the installed library with itself.
The sets are diff (both libraries, equal output), ours (ours alone, has to succeed), life (ours
alone, under valgrind). To be run as root in the virtual machine, where rxe0 is on veth0 and rxe1
on veth1, the two ends of one pair.
"""

import argparse
import difflib
import os
import re
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))

# Seconds that a program may take; a program that takes longer hangs.
PATIENCE = 120

# How often a program runs with both libraries until it ends well with the original, which is the
# measure: a crash of the original tells nothing about ours.
CHANCES = 3

# What the note of such a program says.
RUN_AGAIN = "run again"


class Case:
    """A program with arguments and environment, run under a name of its own."""

    def __init__(self, name, *argv, env=None, patience=PATIENCE):
        self.name = name
        self.argv = argv
        self.env = env or {}
        self.patience = patience


def fork_cases():
    """Every moment to ask for fork support, with and without a kernel that needs none."""
    environments = {
        "": {},
        "-env": {"RDMAV_FORK_SAFE": "1"},
        "-env0": {"RDMAV_FORK_SAFE": "0"},
        "-envempty": {"RDMAV_FORK_SAFE": ""},
        "-ibv": {"IBV_FORK_SAFE": "yes"},
        "-both": {"IBV_FORK_SAFE": "1", "RDMAV_FORK_SAFE": "0"},
        "-huge": {"RDMAV_FORK_SAFE": "1", "RDMAV_HUGEPAGES_SAFE": "1"},
    }
    for when in ("never", "early", "between", "late"):
        for suffix, env in environments.items():
            if when in ("between", "late") and suffix not in ("", "-env"):
                continue
            yield Case(f"fork-{when}{suffix}", "fork_verbs", "rxe0", when, "nonetlink", env=env)
    for when in ("never", "early", "late"):
        yield Case(f"fork-kernel-{when}", "fork_verbs", "rxe0", when)
    yield Case("fork-kernel-env", "fork_verbs", "rxe0", "never", env={"RDMAV_FORK_SAFE": "1"})
    huge = {"RDMAV_HUGEPAGES_SAFE": "1"}
    yield Case("fork-range", "fork_range")
    yield Case("fork-range-huge", "fork_range", env=huge)
    yield Case("fork-range-late", "fork_range", "late")
    yield Case("fork-range-none", "fork_range", "none")
    yield Case("fork-range-failure", "fork_range", "failure")


def private_cases():
    """The log and the switch for devices that have gone, by what the environment says."""
    log = "/tmp/private.log"
    environments = {
        "": {},
        "-log2": {"VERBS_LOG_LEVEL": "2", "VERBS_LOG_FILE": log},
        "-log0x4": {"VERBS_LOG_LEVEL": "0x4", "VERBS_LOG_FILE": log},
        "-lognone": {"VERBS_LOG_LEVEL": "none", "VERBS_LOG_FILE": log},
        "-gone": {"RDMAV_ALLOW_DISASSOC_DESTROY": "1"},
        "-gone0": {"RDMAV_ALLOW_DISASSOC_DESTROY": "0"},
        "-gonemlx4": {"MLX4_DEVICE_FATAL_CLEANUP": "1"},
    }
    for suffix, env in environments.items():
        yield Case(f"private{suffix}", "private", "rxe0", log, env=env)


DIFF = [
    Case("list", "list", "rxe1", "veth1"),
    Case("destroy-order", "destroy_order", "rxe0"),
    Case("fail-device", "fail_device", "rxe0"),
    Case("fail-mr", "fail_mr", "rxe0"),
    Case("fail-mw", "fail_mw", "rxe0"),
    Case("fail-cq", "fail_cq", "rxe0"),
    Case("fail-qp", "fail_qp", "rxe0"),
    Case("fail-srq", "fail_srq", "rxe0"),
    Case("fail-ah", "fail_ah", "rxe0"),
    Case("fail-other", "fail_other", "rxe0"),
    Case("refused", "refused", "rxe0"),
    Case("gid", "gid", "rxe0", "veth0"),
    Case("ah", "ah", "rxe0", "veth0", "veth1"),
    Case("events", "events", "rxe0", "veth1"),
    Case("data", "data", "rxe0"),
    Case("threads", "threads", "rxe0"),
    Case("compat10", "compat10", "rxe0", "veth1"),
    Case("dlvsym", "dlvsym", os.path.join(HERE, "exports.txt")),
    Case("strings", "strings"),
    *private_cases(),
    *fork_cases(),
]

# Programs for our library alone; a name that ends in .py is a script of this folder. The lines that
# a script begins with FAIL, and those below them, are shown.
OURS = [
    Case("config", "ours/config.py", "{programs}", "{ours}", patience=900),
    Case("private-abis", "abis/abis.py", "real", "{programs}/abis", "{ours}", patience=900),
    Case("fork-failures", "fork_failures"),
    Case("old-names", "old_names", "rxe0"),
    Case("plain-symbols", "plain_symbols.py", "rxe0"),
]

MEMCHECK = (
    "valgrind", "-q", "--error-exitcode=9", "--leak-check=full",
    "--show-leak-kinds=definite,indirect,possible", "--errors-for-leak-kinds=definite,indirect,possible",
    "--num-callers=30",
)

# Programs under valgrind: the tool, then the program. 1,000 rounds each.
LIFE = [
    Case("memcheck-lists", *MEMCHECK, "life", "rxe0", "1000", "lists", patience=900),
    Case("memcheck-open", *MEMCHECK, "life", "rxe0", "1000", "open", patience=900),
    Case("memcheck-objects", *MEMCHECK, "life", "rxe0", "1000", "objects", patience=1500),
    Case("memcheck-failures", *MEMCHECK, "life", "rxe0", "1000", "failures", patience=900),
    Case("memcheck-data", *MEMCHECK, "life", "rxe0", "1000", "data", patience=900),
    # Not drd as well: it takes the provider's initialization of its spin locks for misuse.
    Case("helgrind-threads", "valgrind", "-q", "--tool=helgrind", "--error-exitcode=9", "threads",
         "rxe0", "5", patience=900),
]


def plain(command):
    """Runs a command of the runner's own, whose output nobody needs."""
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def wait_for(what, ready):
    """Waits a minute at most until ready() is true."""
    for _ in range(600):
        if ready():
            return
        time.sleep(0.1)
    sys.exit(f"run.py: {what} did not come")


def restore():
    """Puts the devices back to how every program may expect them."""
    plain(["ip", "link", "set", "veth0", "up"])
    plain(["ip", "link", "set", "veth1", "up"])
    for device, netdev in (("rxe0", "veth0"), ("rxe1", "veth1")):
        if not os.path.exists(f"/sys/class/infiniband/{device}"):
            plain(["rdma", "link", "add", device, "type", "rxe", "netdev", netdev])
        ports = f"/sys/class/infiniband/{device}/ports/1"

        def ready(device=device, ports=ports):
            try:
                uverbs = os.listdir(f"/sys/class/infiniband/{device}/device/infiniband_verbs")
            except OSError:
                uverbs = [
                    name
                    for name in os.listdir("/sys/class/infiniband_verbs")
                    if name.startswith("uverbs")
                    and read(f"/sys/class/infiniband_verbs/{name}/ibdev").strip() == device
                ]
            return (
                uverbs
                and os.path.exists(f"/dev/infiniband/{uverbs[0]}")
                and read(f"{ports}/state").startswith("4")
                and set(read(f"{ports}/gids/0").strip()) - set("0:")
            )

        wait_for(device, ready)
    wait_for(
        "link-local addresses",
        lambda: b"tentative"
        not in subprocess.run(["ip", "-6", "address"], stdout=subprocess.PIPE, check=False).stdout,
    )


def read(path):
    """The text of a file, or nothing if it cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def environment(ours, extra):
    """The environment of a program: the one of the runner without switches of the library."""
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("RDMAV_", "IBV_", "VERBS_", "SYSFS_", "LD_"))
    }
    if ours:
        env["LD_LIBRARY_PATH"] = ours
    env.update(extra)
    return env


def run(command, env, patience, output):
    """Runs a command to its end, or kills it and all that it started; hands back how it ended."""
    with open(output, "wb") as file:
        child = subprocess.Popen(
            command, env=env, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
            cwd="/tmp", start_new_session=True,
        )
        try:
            code = child.wait(patience)
            how = f"exit status {code}" if code >= 0 else f"signal {-code}"
        except subprocess.TimeoutExpired:
            how = f"no end after {patience} s"
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        child.wait()
    with open(output, "a", encoding="utf-8") as file:
        file.write(how + "\n")
    return how


def lines_of(path):
    """What a program printed, line by line."""
    return read(path).splitlines()


def same(upstream, ours):
    """Whether two lines say the same.

    A failure for which the original leaves errno alone may have any errno, and an errno beside an
    error number that is returned is worth nothing in the original.
    """
    if upstream == ours:
        return True
    if upstream.endswith(" unset") and re.fullmatch(
        re.escape(upstream[: -len("unset")]) + "(E[A-Z0-9]+)", ours
    ):
        return True
    return re.sub(r" \(errno \w+\)$", "", upstream) == ours


def known_differences():
    """Lines that differ by design: {(case, upstream's line): {our line: why}}."""
    known = {}
    for line in lines_of(os.path.join(HERE, "differences.tsv")):
        if line and not line.startswith("#"):
            case, upstream, ours, why = line.split("\t")
            known.setdefault((case, upstream), {})[ours] = why
    return known


def compare(case, upstream, ours, known):
    """The differences of two outputs, each as a line of text, and how many were known."""
    if len(upstream) == len(ours):
        found, expected = [], 0
        for number, (a, b) in enumerate(zip(upstream, ours), 1):
            if same(a, b):
                continue
            if b in known.get((case, a), {}):
                expected += 1
            else:
                found += [f"line {number}: - {a}", f"line {number}: + {b}"]
        return found, expected
    diff = difflib.unified_diff(upstream, ours, "upstream", "ours", lineterm="", n=1)
    return list(diff)[2:], 0


def check_loaded(ours, results):
    """Makes sure that programs get the library that they should."""
    script = (
        "import ctypes; ctypes.CDLL('libibverbs.so.1');"
        "print({l.split()[-1] for l in open('/proc/self/maps') if 'libibverbs' in l}.pop())"
    )
    for library in ("", ours):
        output = os.path.join(results, "loaded.txt")
        run(["python3", "-c", script], environment(library, {}), 30, output)
        path = lines_of(output)[0]
        if not path.startswith(f"{library}/" if library else "/usr/lib/"):
            sys.exit(f"run.py: programs load {path}")


def run_both(args, case):
    """Runs a program with both libraries; the seconds and the lines of each, and how it ended with
    the original."""
    seconds, outputs, ends = [], [], []
    for label, library in (("upstream", ""), ("ours", args.ours)):
        restore()
        output = os.path.join(args.results, f"{case.name}.{label}.txt")
        program = os.path.join(args.programs, case.argv[0])
        start = time.monotonic()
        ends.append(
            run([program, *case.argv[1:]], environment(library, case.env), case.patience, output)
        )
        seconds.append(time.monotonic() - start)
        outputs.append(lines_of(output))
    return seconds, outputs, ends[0]


def run_diff(args):
    """Runs the differential set; yields a row per case."""
    known = known_differences()
    for case in DIFF:
        if not args.wanted(case.name):
            continue
        odd = []
        for _ in range(CHANCES):
            seconds, outputs, end = run_both(args, case)
            if end == "exit status 0":
                break
            odd.append(end)
        differences, expected = compare(case.name, *outputs, known)
        if end != "exit status 0":
            differences.append(f"with the original: {end}")
        note = f"{len(outputs[1])} lines"
        if expected:
            note += f", {expected} known differences"
        if odd:
            note += f", {RUN_AGAIN}, the original had: {', '.join(odd)}"
        yield case.name, differences, seconds, note


def run_alone(args, cases, valgrind):
    """Runs programs with our library alone, which have to succeed; yields a row per case."""
    for case in cases:
        if not args.wanted(case.name):
            continue
        restore()
        output = os.path.join(args.results, f"{case.name}.txt")
        argv = [word.format(programs=args.programs, ours=args.ours) for word in case.argv]
        if valgrind:
            # A program has no dash and no slash in its name; the tool and its options come first.
            at = next(i for i, word in enumerate(argv) if i and not word.startswith("-"))
            argv[at] = os.path.join(args.programs, argv[at])
        elif argv[0].endswith(".py"):
            argv = ["python3", os.path.join(HERE, argv[0]), *argv[1:]]
        else:
            argv[0] = os.path.join(args.programs, argv[0])
        start = time.monotonic()
        how = run(argv, environment(args.ours, case.env), case.patience, output)
        lines = lines_of(output)
        differences = [] if how == "exit status 0" else lines
        yield case.name, differences, [time.monotonic() - start], lines[-2] if lines[1:] else how


def main():
    """Runs the sets that were asked for, prints a row per case and details of what failed."""
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("programs")
    parser.add_argument("results")
    parser.add_argument("ours")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--sets", default="diff")
    args = parser.parse_args()
    args.programs = os.path.realpath(args.programs)
    args.results = os.path.realpath(args.results)
    args.ours = os.path.realpath(args.ours) if args.ours else ""
    args.wanted = lambda name: not args.only or any(part in name for part in args.only)
    os.makedirs(args.results, exist_ok=True)
    check_loaded(args.ours, args.results)
    sets = {
        "diff": run_diff,
        "ours": lambda args: run_alone(args, OURS, False),
        "life": lambda args: run_alone(args, LIFE, True),
    }
    failed, passed, again = 0, 0, 0
    with open(os.path.join(args.results, "results.tsv"), "w", encoding="utf-8") as table:
        for name in args.sets.split(","):
            for case, differences, seconds, note in sets[name](args):
                word = "FAIL" if differences else "ok"
                failed, passed = failed + bool(differences), passed + (not differences)
                again += RUN_AGAIN in note
                times = " ".join(f"{second:6.1f}" for second in seconds)
                print(f"{name:5} {case:28} {word:5} {times}  {note}", flush=True)
                for line in differences[:40]:
                    print(f"      {line}", flush=True)
                if len(differences) > 40:
                    print(f"      and {len(differences) - 40} lines more", flush=True)
                table.write(f"{name}\t{case}\t{word}\t{len(differences)}\t{note}\n")
                table.flush()
    restore()
    print(f"{passed} passed, {failed} failed" + (f", {again} {RUN_AGAIN}" if again else ""))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
