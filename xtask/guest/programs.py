"""Runs real verbs programs twice each, with the installed libibverbs and with the one in /share/lib.

A row is one program, or a server and a client. What row number N prints with one of the libraries
goes to /share/results/N/upstream or /share/results/N/ours: files NAME.out, NAME.err and NAME.code
for each of its processes. Beside them are the row's title in the file "title", and empty files
"exact" if the output has to be the same to the byte, "fails" if the row does not work with
upstream's library either, "chance" if which of its processes reports the failure is a matter of chance,
so that only the failure as such can be compared. A process that had to be killed has a file
NAME.stuck, which says where its threads were.

usage: programs.py [PART]: the rows whose title contains PART. If there is a file /share/titles, only
those whose title is a line of it.
"""

import os
import pty
import signal
import subprocess
import sys
import time
from collections import namedtuple

RESULTS = "/share/results"
TITLES = "/share/titles"
ADDRESS = "10.0.0.1"
TCP_PORT = 18515
QPERF_PORT = 19765

# The longest that one program may take, in seconds, and a server after its client has ended. When
# soft-RoCE loses a message of a disconnection, the kernel's connection manager goes on for 70 seconds
# (16 tries of 4.3 seconds each) before it ends the wait of either side.
LIMIT = 90
GRACE = 120

# What stands in place of an exit status if a server does not get ready for its client.
DEAF = "never listened"

Row = namedtuple("Row", "title run exact fails chance", defaults=(False, False, False))

LIBRARIES = {"upstream": {}, "ours": {"LD_LIBRARY_PATH": "/share/lib"}}


def wait_for(condition, limit=LIMIT):
    """Waits until condition() is true, but no longer than limit seconds; whether it is."""
    end = time.monotonic() + limit
    while not condition():
        if time.monotonic() >= end:
            return False
        time.sleep(0.02)
    return True


def tcp_listens(port):
    """Whether a process listens on the TCP port."""
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with open(table, encoding="ascii") as lines:
            for line in lines.readlines()[1:]:
                fields = line.split()
                if fields[3] == "0A" and int(fields[1].rsplit(":", 1)[1], 16) == port:
                    return True
    return False


def cm_listens():
    """Whether a process listens through the RDMA connection manager."""
    shown = subprocess.run(["rdma", "resource", "show", "cm_id"], capture_output=True, text=True)
    return "LISTEN" in shown.stdout


def on_one_cpu():
    """Has the calling process share one CPU with all others that call this."""
    os.sched_setaffinity(0, {0})


def ahead_on_one_cpu():
    """The same, and with three times as much of it as a session that has not called this."""
    on_one_cpu()
    with open("/proc/self/autogroup", "w", encoding="ascii") as file:
        file.write("-5")


class Process:
    """A program with its output in files; `prepare` is called in the process that becomes it."""

    def __init__(self, folder, name, command, library, terminal=False, prepare=None):
        self.path = os.path.join(folder, name)
        self.master = None
        self.err = open(self.path + ".err", "wb")
        if terminal:
            self.master, self.out = pty.openpty()
        else:
            self.out = os.open(self.path + ".out", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        self.process = subprocess.Popen(
            command.split(),
            env=os.environ | LIBRARIES[library],
            stdin=subprocess.DEVNULL,
            stdout=self.out,
            stderr=self.err,
            start_new_session=True,
            preexec_fn=prepare,
        )

    def kill(self, number):
        os.killpg(self.process.pid, number)

    def end(self, limit, late):
        """Waits for the end and writes down the exit status: `late` if it had to be killed."""
        try:
            code = str(self.process.wait(limit))
        except subprocess.TimeoutExpired:
            with open(self.path + ".stuck", "w", encoding="utf-8") as file:
                file.writelines(where_threads_are(self.process.pid))
            self.kill(signal.SIGKILL)
            self.process.wait()
            code = late
        if self.master is not None:
            os.close(self.out)
            with open(self.path + ".out", "wb") as file:
                file.write(drain(self.master))
        self.note(code)

    def note(self, code):
        with open(self.path + ".code", "w", encoding="ascii") as file:
            file.write(code)


def where_threads_are(pid):
    """Lines that say where the kernel has the threads of a process: system call, arguments, stack."""
    for thread in sorted(os.listdir(f"/proc/{pid}/task"), key=int):
        for what in ("comm", "syscall", "wchan", "stack"):
            try:
                with open(f"/proc/{pid}/task/{thread}/{what}", encoding="utf-8") as file:
                    text = file.read()
            except OSError as error:
                text = error.strerror
            yield f"thread {thread} {what}: {'; '.join(text.splitlines())}\n"


def drain(master):
    """All that was written to a terminal whose other end is closed."""
    data = b""
    while True:
        try:
            block = os.read(master, 65536)
        except OSError:
            return data
        if not block:
            return data
        data += block


def single(command):
    """A row of one program."""

    def run(folder, library):
        Process(folder, "program", command, library).end(LIMIT, "timeout")

    return run


def pair(server, client, listens, stays=False, together=False):
    """A row of a server and a client; a server that `stays` is ended after its client.

    With `together` both share one CPU, and the server has more of it: then it is as far as its
    client everywhere, however busy the machine is.
    """
    of_server, of_client = (ahead_on_one_cpu, on_one_cpu) if together else (None, None)

    def run(folder, library):
        first = Process(folder, "server", server, library, prepare=of_server)
        if not wait_for(lambda: listens() or first.process.poll() is not None):
            first.kill(signal.SIGKILL)
            first.end(GRACE, "stayed")
            first.note(DEAF)
            return
        Process(folder, "client", client, library, prepare=of_client).end(LIMIT, "timeout")
        if stays:
            first.kill(signal.SIGTERM)
        first.end(GRACE, "stayed")

    return run


def watch_events(folder, library):
    """A row of ibv_asyncwatch, while its port goes down and comes up again."""
    watcher = Process(folder, "program", "ibv_asyncwatch -d rxe1", library, terminal=True)
    time.sleep(2)
    for state in ("down", "up"):
        subprocess.run(["ip", "link", "set", "veth1", state], check=True)
        time.sleep(3)
    watcher.kill(signal.SIGINT)
    watcher.end(GRACE, "timeout")


def over_tcp(program, options, client_options=""):
    """A server and a client that find each other over TCP."""
    return pair(
        f"{program} {options}",
        f"{program} {options} {client_options} {ADDRESS}",
        lambda: tcp_listens(TCP_PORT),
    )


def pingpong_rows():
    """The examples of libibverbs, one for each kind of queue pair; rxe has no XRC."""
    for kind in ("rc", "uc", "ud", "srq", "xsrq"):
        for variant, option in {"": "", " events": " -e"}.items():
            program = f"ibv_{kind}_pingpong"
            size = "1024" if kind == "ud" else "4096"
            options = f"-d rxe0 -g 1 -n 20 -s {size}{option}"
            yield Row(program + variant, over_tcp(program, options), fails=kind == "xsrq")


def perftest_rows():
    """Every program of perftest over every transport that has its operation.

    A write completes without an event at its target, so the write tests refuse that option.
    """
    transports = {"send": "RC UC UD", "write": "RC UC", "read": "RC", "atomic": "RC"}
    for operation, names in transports.items():
        size = "" if operation == "atomic" else " -s 1024"
        for kind in ("bw", "lat"):
            for transport in names.split():
                variants = {"": "", " events": " -e"}
                if transport == "RC":
                    variants[" old post"] = " --use_old_post_send"
                for variant, option in variants.items():
                    program = f"ib_{operation}_{kind}"
                    options = f"-d rxe0 -x 1 -F -n 50 -c {transport}{size}{option}"
                    yield Row(
                        f"{program} {transport}{variant}",
                        over_tcp(program, options),
                        fails=operation == "write" and option == " -e",
                    )


def connection_manager_rows():
    """Programs whose two sides find each other through librdmacm.

    Those of perftest meet twice: the server listens for the test when both have told each other
    that they begin. A client that is quicker is refused, and dies of its second try, which uses what
    the first has freed.
    """
    program = "ib_send_lat -R -F -n 50"
    run = pair(program, f"{program} {ADDRESS}", cm_listens, together=True)
    yield Row("ib_send_lat by rdma_cm", run)
    for title, server, client in (
        ("rping", f"rping -s -a {ADDRESS} -v -C 5", f"rping -c -a {ADDRESS} -v -C 5"),
        ("ucmatose", "ucmatose", f"ucmatose -s {ADDRESS}"),
        ("udaddy", "udaddy", f"udaddy -s {ADDRESS}"),
        ("rdma_server", f"rdma_server -s {ADDRESS}", f"rdma_client -s {ADDRESS}"),
        ("riostream", "riostream -S 4096 -C 20", f"riostream -s {ADDRESS} -S 4096 -C 20"),
    ):
        yield Row(title, pair(server, client, cm_listens))
    for test in ("rc_bw", "rc_lat", "rc_rdma_write_bw", "rc_rdma_read_lat", "rc_compare_swap_mr"):
        client = f"qperf {ADDRESS} -cm 1 -t 1 {test}"
        listens = lambda: tcp_listens(QPERF_PORT)
        yield Row(f"qperf {test}", pair("qperf", client, listens, stays=True))
    client = f"qperf {ADDRESS} -cm 1 -t 1 ud_bw"
    listens = lambda: tcp_listens(QPERF_PORT)
    run = pair("qperf", client, listens, stays=True)
    yield Row("qperf ud_bw", run, fails=True, chance=True)


def rows():
    """All rows, in the order in which they run."""
    yield Row("ibv_devices", single("ibv_devices"), exact=True)
    yield Row("ibv_devinfo -v", single("ibv_devinfo -v"), exact=True)
    yield Row("ibv_devinfo -l", single("ibv_devinfo -l"), exact=True)
    yield Row("ibv_devinfo of no device", single("ibv_devinfo -d none"), exact=True, fails=True)
    yield from pingpong_rows()
    yield from perftest_rows()
    yield from connection_manager_rows()
    yield Row("ibv_asyncwatch", watch_events)


def main():
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    selected = [row for row in rows() if wanted in row.title]
    if os.path.exists(TITLES):
        with open(TITLES, encoding="utf-8") as file:
            titles = file.read().splitlines()
        selected = [row for row in selected if row.title in titles]
    for number, row in enumerate(selected):
        start = time.monotonic()
        folder = os.path.join(RESULTS, f"{number:03}")
        for library in LIBRARIES:
            os.makedirs(os.path.join(folder, library))
            row.run(os.path.join(folder, library), library)
        files = {"title": row.title}
        if row.exact:
            files["exact"] = ""
        if row.fails:
            files["fails"] = ""
        if row.chance:
            files["chance"] = ""
        for name, contents in files.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(contents)
        print(f"{row.title}: {time.monotonic() - start:.1f} s", flush=True)


main()
