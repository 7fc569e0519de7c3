"""Runs datagrams of libfabric's provider verbs over the device inside the library.

usage: run.py LIBRARY WHAT..., where WHAT is

  plain     our own program, for which the device is enough
  pingpong  libfabric's own program, which opens an event queue whether it needs one or not: libfabric
            makes it from a channel of the connection manager, whose character device has to be there.
            Where the kernel has none, another one that refuses what is written, and that can be waited
            for, is good enough, since datagrams need no connections.
"""

import os
import re
import sys

from client import end, start, tell, wait_for

MANAGER = "/dev/infiniband/rdma_cm"
SUBSTITUTES = ("/dev/fuse", "/dev/net/tun")
DOMAIN = "urxe0-dgram"
PORT = 13500

# A thread of libfabric's answers who asks for names. Nobody does, and where "localhost" has no address
# the process that has it would not end.
SETTING = {"FI_VERBS_DGRAM_USE_NAME_SERVER": "0"}

# Title, environment.
PORTS = (
    ("RoCE", SETTING),
    ("InfiniBand", SETTING | {"URXE_LINK_LAYER": "infiniband", "URXE_NETDEV": "lo"}),
)

# Title, provider and type of the endpoints, how many messages of which sizes.
PINGPONGS = (
    ("dgram", f"-p verbs -e dgram -d {DOMAIN}", "-I 20"),
    # A layer above, which makes datagrams reliable and cuts messages into them.
    ("rdm", f"-p verbs;ofi_rxd -e rdm -d {DOMAIN}", "-I 10 -S 65536"),
)


def text_of(title):
    """What a program has printed."""
    with open(title.replace(" ", "-") + ".txt", encoding="utf-8") as file:
        return file.read()


def plain():
    """Two processes of our program that compare each byte."""
    for port, environment in PORTS:
        title = f"libfabric dgram {port}"
        code = end(start(title, f"./libfabric {DOMAIN} 2000 7", environment))
        summaries = re.findall(r"[1-9]\d* bytes compared, 0 wrong", text_of(title))
        tell(title, {"processes": code, "summaries": 0 if len(summaries) == 2 else len(summaries)})


def pair(title, command, port, environment):
    """The exit codes of a client and its server."""
    server = start(f"{title} server", f"{command} -B {port}", environment)
    wait_for(port)
    client = start(f"{title} client", f"{command} -P {port} 127.0.0.1", environment)
    return {"client": end(client), "server": end(server)}


def pingpong():
    """A server and a client, which compare what comes back."""
    if not os.path.exists(MANAGER):
        os.symlink(next(filter(os.path.exists, SUBSTITUTES)), MANAGER)
    number = PORT
    for port, environment in PORTS:
        for name, endpoint, messages in PINGPONGS:
            title = f"fi_pingpong {name} {port}"
            number += 1
            codes = pair(title, f"fi_pingpong -c {endpoint} {messages}", number, environment)
            # A line per size: all that was sent was acknowledged.
            count = messages.split()[1]
            rows = re.findall(rf"(?m)^\d+k? +{count} +={count} ", text_of(f"{title} client"))
            tell(title, codes | {"lines": 0 if rows else "none"})
    title = "fi_pingpong without the device"
    codes = pair(title, f"fi_pingpong {PINGPONGS[0][1]}", PORT, {"IBV_DRIVERS": ""})
    tell(title, {who: 0 if code not in (0, "did not end") else f"exit {code}" for who, code in codes.items()})


for what in sys.argv[2:]:
    {"plain": plain, "pingpong": pingpong}[what]()
