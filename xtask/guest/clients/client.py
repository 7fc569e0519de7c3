"""What the scripts that run clients of verbs have in common.

They run in an empty folder, with the library under test as their argument, and print a line per test:
its title, a tab, and "ok" or what went wrong. What the processes print is in files of the folder.
"""

import os
import signal
import subprocess
import sys
import time

LIBRARY = sys.argv[1]
LIMIT = 120


def start(title, command, environment):
    """Starts a program with the library under test; what it prints goes to a file of that title."""
    with open(title.replace(" ", "-") + ".txt", "wb") as file:
        return subprocess.Popen(
            command.split(),
            env=os.environ | {"LD_PRELOAD": LIBRARY} | environment,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def end(process, limit=LIMIT):
    """The exit code of a process, which is killed if it takes longer than so many seconds."""
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        kill(process)
        return "did not end"


def kill(process):
    """Kills a process with its children."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def wait_for(port):
    """Waits until a process listens on a TCP port."""
    limit = time.monotonic() + 60
    while time.monotonic() < limit:
        with open("/proc/net/tcp", encoding="ascii") as four, open("/proc/net/tcp6", encoding="ascii") as six:
            if any(f":{port:04X} " in line and " 0A " in line for line in (*four, *six)):
                return
        time.sleep(0.02)


def tell(title, outcomes):
    """Prints the line of a test; `outcomes` are the exit codes of its processes, or what is wrong."""
    wrong = ", ".join(f"{who}: {outcome}" for who, outcome in outcomes.items() if outcome != 0)
    print(f"{title}\t{wrong or 'ok'}", flush=True)
