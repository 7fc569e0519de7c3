"""Runs verbs programs on the device inside the library, a server and a client in a process each.

usage: urxe.py ADDRESS LIBRARY [PART]: the rows whose title contains PART, over TCP on ADDRESS, with
LIBRARY preloaded

Prints a line per row: its title, a tab, and "ok" or what went wrong. What the processes print is in
$SHARE/results/N, files server.txt and client.txt.
"""

import os
import signal
import subprocess
import sys
import time
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor

SHARE = os.environ["SHARE"]
LIBRARY = sys.argv[2]
RESULTS = os.path.join(SHARE, "results")
FIRST_PORT = 20000

# The longest that a client may take, in seconds, and a server after its client has ended.
LIMIT = 180
GRACE = 60

# A server and a client, with the same command but for the address, and the same environment; what
# the client has to print.
Row = namedtuple("Row", "title command environment prints", defaults=({}, ""))

# So many of the programs that run for a given time do so side by side.
SIDE_BY_SIDE = 3


def pingpong_rows():
    """The examples of libibverbs, one for each kind of queue pair."""
    for kind in ("rc", "uc", "ud", "srq", "xsrq"):
        for variant, option in {"": "", " events": " -e"}.items():
            size = "1024" if kind == "ud" else "8192"
            yield Row(f"{kind}_pingpong{variant}", f"ibv_{kind}_pingpong -g 1 -n 500 -s {size}{option}")
    yield Row("rc_pingpong checked", "ibv_rc_pingpong -g 1 -n 200 -s 100000 -c")
    yield Row("rc_pingpong timestamps", "ibv_rc_pingpong -g 1 -n 200 -t")
    yield Row("rc_pingpong on demand", "ibv_rc_pingpong -g 1 -n 200 -o")
    yield Row("rc_pingpong device memory", "ibv_rc_pingpong -g 1 -n 200 -j")
    yield Row("rc_pingpong new post", "ibv_rc_pingpong -g 1 -n 200 -N")
    infiniband = {"URXE_LINK_LAYER": "infiniband"}
    yield Row("rc_pingpong by LID", "ibv_rc_pingpong -n 200", infiniband)
    yield Row("ud_pingpong by LID", "ibv_ud_pingpong -n 200 -s 1024", infiniband)
    yield Row("srq_pingpong resized", "ibv_srq_pingpong -g 1 -n 200 -q 8 -r 200")


def perftest_rows():
    """Every program of perftest over every transport that has its operation, and its options."""
    transports = {"send": "RC UC UD XRC", "write": "RC UC XRC", "read": "RC XRC", "atomic": "RC XRC"}
    for operation, names in transports.items():
        for kind in ("bw", "lat"):
            for transport in names.split():
                for variant, option in options(operation, kind, transport).items():
                    yield perftest(f"ib_{operation}_{kind}", transport, variant, option)


def options(operation, kind, transport):
    """The variants of a program, and the options that make them."""
    yields = {"": "", " new post": ""}
    if operation != "write":
        yields[" events"] = " -e"
    if operation == "atomic":
        yields[" compare and swap"] = " -A CMP_AND_SWAP"
    else:
        yields[" all sizes"] = " -a"
    if operation in ("send", "write"):
        for post in ("", " new post"):
            yields[" inline" + post] = " -s 128 -I 220"
        yields[" not inline"] = " -s 128 -I 0"
    if operation == "send" and transport in ("RC", "UD"):
        yields[" SRQ"] = " --use-srq"
    if kind == "bw":
        yields[" both ways"] = " -b"
        for post in ("", " new post"):
            yields[" 16 pairs" + post] = " -q 16"
            yields[" post list" + post] = " -l 16 -t 128"
    yields[" 2 seconds"] = " -D 2"
    return yields


def perftest(program, transport, variant, options):
    size = "" if " -s " in options or " -a" in options or "atomic" in program else " -s 1024"
    # A list of 16 needs a multiple of it. A completion counts as the hundred requests that one is
    # asked for, the last one too: only with a multiple of that is the sum of several pairs right.
    # The latency of 8 MiB takes its time.
    iterations = 400 if program.endswith("bw") else 10 if " -a" in options else 500
    duration = "" if " -D " in options else f" -n {iterations}"
    new_post = variant.endswith(" new post")
    api = "" if new_post else " --use_old_post_send"
    preload = f"{SHARE}/for_perftest.so {LIBRARY}"
    return Row(
        f"{program} {transport}{variant}",
        f"{program} -x 1 -F -c {transport}{duration}{size}{options}{api}",
        {"LD_PRELOAD": preload} | ({"NEW_POST": "1"} if new_post else {}),
        f"ibv_wr* API     : {'ON' if new_post else 'OFF'}",
    )


def forbidden_rows():
    """Where no process may reach the memory of another one, as in some containers."""
    for title, command in {
        "rc_pingpong checked": "ibv_rc_pingpong -g 1 -n 200 -s 100000 -c",
        "rc_pingpong events": "ibv_rc_pingpong -g 1 -n 200 -e",
        "srq_pingpong": "ibv_srq_pingpong -g 1 -n 200",
        "ud_pingpong": "ibv_ud_pingpong -g 1 -n 200 -s 1024",
        "uc_pingpong": "ibv_uc_pingpong -g 1 -n 200",
        "ib_write_bw": "ib_write_bw -x 1 -F -n 200",
        "ib_read_bw": "ib_read_bw -x 1 -F -n 200",
        "ib_atomic_bw": "ib_atomic_bw -x 1 -F -n 200",
        "ib_send_lat": "ib_send_lat -x 1 -F -n 100",
    }.items():
        yield Row(f"{title} without access", f"{SHARE}/no_access {command}")


def rows():
    yield from pingpong_rows()
    yield from perftest_rows()
    yield from forbidden_rows()


def tcp_listens(port):
    """Whether a process listens on the TCP port."""
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with open(table, encoding="ascii") as lines:
            for line in lines.readlines()[1:]:
                fields = line.split()
                if fields[3] == "0A" and int(fields[1].rsplit(":", 1)[1], 16) == port:
                    return True
    return False


def start(command, environment, output):
    with open(output, "wb") as file:
        return subprocess.Popen(
            command.split(),
            env=os.environ | {"LD_PRELOAD": LIBRARY} | environment,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def end(process, limit):
    """The exit status, or "did not end"."""
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return "did not end"


def run(row, folder, address, port):
    """Runs a row; "ok", or what went wrong."""
    os.makedirs(folder)
    command = f"{row.command} -d urxe0 -p {port}"
    server = start(command, row.environment, os.path.join(folder, "server.txt"))
    limit = time.monotonic() + 60
    while not tcp_listens(port) and server.poll() is None and time.monotonic() < limit:
        time.sleep(0.01)
    client = start(f"{command} {address}", row.environment, os.path.join(folder, "client.txt"))
    codes = {"client": end(client, LIMIT), "server": end(server, GRACE)}
    wrong = [f"{who}: {code}" for who, code in codes.items() if code != 0]
    with open(os.path.join(folder, "client.txt"), encoding="utf-8", errors="replace") as file:
        if row.prints not in file.read():
            wrong.append(f"does not print '{row.prints}'")
    return ", ".join(wrong) or "ok"


def main():
    address = sys.argv[1]
    wanted = sys.argv[3] if len(sys.argv) > 3 else ""
    selected = list(enumerate(row for row in rows() if wanted in row.title))

    def show(numbered):
        number, row = numbered
        begin = time.monotonic()
        folder = os.path.join(RESULTS, f"{number:03}")
        outcome = run(row, folder, address, FIRST_PORT + number)
        line = f"{row.title}\t{outcome}\t{time.monotonic() - begin:.1f}\n"
        # print() writes the end of a line by itself, and another row's line may come before it.
        os.write(1, line.encode())

    timed = [numbered for numbered in selected if " -D " in numbered[1].command]
    for numbered in selected:
        if numbered not in timed:
            show(numbered)
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        list(pool.map(show, timed))


main()
