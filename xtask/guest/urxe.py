"""Runs verbs programs on the device inside the library, a server and a client in a process each.

usage: urxe.py ADDRESS [PART]: the rows whose title contains PART, over TCP on ADDRESS

Prints a line per row: its title, a tab, and "ok" or what went wrong. What the processes print is in
/share/results/N, files server.txt and client.txt.
"""

import os
import signal
import subprocess
import sys
import time
from collections import namedtuple

RESULTS = "/share/results"
FIRST_PORT = 20000

# The longest that a client may take, in seconds, and a server after its client has ended.
LIMIT = 180
GRACE = 10

# A server and a client, with the same command but for the address, and the same environment.
Row = namedtuple("Row", "title command environment", defaults=({},))


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
    transports = {"send": "RC UC UD XRC", "write": "RC UC", "read": "RC", "atomic": "RC"}
    for operation, names in transports.items():
        for kind in ("bw", "lat"):
            program = f"ib_{operation}_{kind}"
            for transport in names.split():
                yield perftest(program, transport, "", "")
                if transport == "XRC":
                    continue
                yield perftest(program, transport, " old post", " --use_old_post_send")
                if operation != "write":
                    yield perftest(program, transport, " events", " -e")
                if operation == "atomic":
                    yield perftest(program, transport, " compare and swap", " -A CMP_AND_SWAP")
                    continue
                if operation != "read":
                    yield perftest(program, transport, " inline", " -s 128 -I 220")
                    yield perftest(program, transport, " not inline", " -s 128 -I 0")
                if transport != "UD":
                    yield perftest(program, transport, " all sizes", " -a")
                if operation == "send" and transport != "UC":
                    yield perftest(program, transport, " SRQ", " --use-srq")
                if kind == "bw":
                    yield perftest(program, transport, " both ways", " -b")
                    yield perftest(program, transport, " 16 pairs", " -q 16")
                    yield perftest(program, transport, " post list", " -l 16 -t 128")
                    if operation == "write":
                        yield perftest(program, transport, " 2 seconds", " -D 2")


def kind_of(program):
    return program.rsplit("_", 1)[1]


def perftest(program, transport, variant, options):
    size = "" if " -s " in options or " -a" in options or "atomic" in program else " -s 1024"
    # A list of 16 needs a multiple of it; the latency of 8 MiB takes its time.
    iterations = 512 if kind_of(program) == "bw" else 10 if " -a" in options else 500
    duration = "" if " -D " in options else f" -n {iterations}"
    command = f"{program} -x 1 -F -c {transport}{duration}{size}{options}"
    return Row(f"{program} {transport}{variant}", command)


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
        yield Row(f"{title} without access", f"/share/no_access {command}")


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
            env=os.environ | environment,
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
    limit = time.monotonic() + 10
    while not tcp_listens(port) and server.poll() is None and time.monotonic() < limit:
        time.sleep(0.01)
    client = start(f"{command} {address}", row.environment, os.path.join(folder, "client.txt"))
    codes = {"client": end(client, LIMIT), "server": end(server, GRACE)}
    wrong = [f"{who}: {code}" for who, code in codes.items() if code != 0]
    return ", ".join(wrong) or "ok"


def main():
    address = sys.argv[1]
    wanted = sys.argv[2] if len(sys.argv) > 2 else ""
    selected = [row for row in rows() if wanted in row.title]
    for number, row in enumerate(selected):
        begin = time.monotonic()
        folder = os.path.join(RESULTS, f"{number:03}")
        outcome = run(row, folder, address, FIRST_PORT + number)
        print(f"{row.title}\t{outcome}\t{time.monotonic() - begin:.1f}", flush=True)


main()
