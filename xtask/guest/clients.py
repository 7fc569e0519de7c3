"""Runs clients of verbs that bring more than a test of verbs: UCX, and qperf.

usage: clients.py LIBRARY in an empty folder

Prints a line per client: its title, a tab, and "ok" or what went wrong. What the processes print is in
files of the folder.
"""

import os
import signal
import subprocess
import sys
import time

LIBRARY = sys.argv[1]
LIMIT = 30
PORT = 13400

# Transport, test, layout of the data, size. Without the files in sysfs that tell the type of a GID,
# UCX takes all for those of RoCE version 1: with datagrams only those of IPv6 look the same.
UCX = (
    ("rc_verbs", "am_lat", "short", 8),
    ("rc_verbs", "am_bw", "bcopy", 1024),
    ("rc_verbs", "put_lat", "short", 8),
    ("rc_verbs", "put_bw", "zcopy", 65536),
    ("rc_verbs", "get", "zcopy", 65536),
    ("rc_verbs", "add_lat", "short", 8),
    ("ud_verbs", "am_lat", "short", 8),
    ("ud_verbs", "am_bw", "bcopy", 512),
)

# qperf fills in no global route, so the link layer is InfiniBand.
QPERF = "rc_bw rc_lat uc_bw ud_lat rc_rdma_write_bw rc_rdma_read_lat rc_compare_swap_mr"


def start(title, command, environment):
    with open(title.replace(" ", "-") + ".txt", "wb") as file:
        return subprocess.Popen(
            command.split(),
            env=os.environ | {"LD_PRELOAD": LIBRARY} | environment,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def end(process):
    try:
        return process.wait(LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return "did not end"


def wait_for(port):
    limit = time.monotonic() + 10
    while time.monotonic() < limit:
        with open("/proc/net/tcp", encoding="ascii") as four, open("/proc/net/tcp6", encoding="ascii") as six:
            if any(f":{port:04X} " in line and " 0A " in line for line in (*four, *six)):
                return
        time.sleep(0.02)


def tell(title, codes):
    wrong = ", ".join(f"{who}: {code}" for who, code in codes.items() if code != 0)
    print(f"{title}\t{wrong or 'ok'}", flush=True)


def main():
    for number, (transport, test, layout, size) in enumerate(UCX):
        title = f"UCX {transport} {test} {layout}"
        command = f"ucx_perftest -d urxe0:1 -x {transport} -t {test} -D {layout} -s {size} -n 500"
        command = f"{command} -p {PORT + number}"
        environment = {"UCX_IB_GID_INDEX": "0"}
        server = start(f"{title} server", command, environment)
        wait_for(PORT + number)
        client = start(f"{title} client", f"{command} 127.0.0.1", environment)
        tell(title, {"client": end(client), "server": end(server)})
    environment = {"URXE_LINK_LAYER": "infiniband"}
    server = start("qperf server", "qperf", environment)
    wait_for(19765)
    for test in QPERF.split():
        client = start(f"qperf {test}", f"qperf 127.0.0.1 -t 1 {test}", environment)
        tell(f"qperf {test}", {"client": end(client)})
    os.killpg(server.pid, signal.SIGKILL)
    server.wait()


main()
