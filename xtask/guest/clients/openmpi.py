"""Runs our program on Open MPI, two ranks of it, with UCX over the device inside the library.

UCX may use nothing but the device, and tells which transport carries what: that is looked at, and
without the device the same command has to fail.
"""

import re

from client import end, start, tell

RANKS = 2

# What UCX calls the transports, and the setting. Connections of rc_verbs are made with datagrams; a
# rank reaches itself by "self".
TRANSPORTS = (("rc_verbs", "rc_verbs,ud_verbs:aux,self"), ("ud_verbs", "ud_verbs,self"))

# The link layer, and what it takes there.
PORTS = (
    ("RoCE", {"UCX_IB_GID_INDEX": "0"}),
    ("InfiniBand", {"URXE_LINK_LAYER": "infiniband"}),
)

# Open MPI believes that only the adapters of some makers are worth UCX.
COMMAND = (
    f"mpirun -np {RANKS} --oversubscribe --tag-output --timeout 240"
    " --mca orte_tmpdir_base . --mca pml ucx --mca osc ucx --mca btl self"
    " --mca opal_common_ucx_tls any --mca opal_common_ucx_devices any ./mpi"
)
ENVIRONMENT = {
    "UCX_NET_DEVICES": "urxe0:1",
    "UCX_LOG_LEVEL": "info",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
}


def run(title, transports, seed, more):
    """The exit code and what was printed."""
    process = start(title, f"{COMMAND} {seed}", ENVIRONMENT | {"UCX_TLS": transports} | more)
    code = end(process, 250)
    with open(title.replace(" ", "-") + ".txt", encoding="utf-8") as file:
        return code, file.read()


def transports_of(rank, text):
    """What UCX uses in a rank: pairs of what for, and a transport with its device."""
    used = set()
    for line in re.findall(rf"(?m)^\[1,{rank}\]<std\w+>:.* ep_cfg\[\d+\]: (.*)$", text):
        for purpose, lanes in re.findall(r"(\w+)\(([^)]*)\)", line):
            used |= {(purpose, lane) for lane in lanes.split()}
    return used


def fault(code, text, transport):
    """What is wrong with a run; 0 if nothing is."""
    device = f"{transport}/urxe0:1"
    if code != 0:
        return f"exit {code}"
    if not re.search(rf"{RANKS} ranks, [1-9]\d* bytes compared, 0 wrong", text):
        return "no summary"
    for rank in range(RANKS):
        used = transports_of(rank, text)
        others = {lane for _, lane in used} - {device, "self/memory0"}
        if others:
            return f"rank {rank} used {' '.join(sorted(others))}"
        purposes = {purpose for purpose, lane in used if lane == device}
        if "tag" not in purposes or not purposes & {"rma", "rma_am"}:
            return f"rank {rank} used {device} for {' '.join(sorted(purposes)) or 'nothing'}"
    return 0


seed = 0
for transport, setting in TRANSPORTS:
    for port, environment in PORTS:
        seed += 1
        title = f"Open MPI {transport} {port}"
        tell(title, {"run": fault(*run(title, setting, seed, environment), transport)})
title = "Open MPI without the device"
code, _ = run(title, TRANSPORTS[0][1], 0, PORTS[0][1] | {"IBV_DRIVERS": ""})
tell(title, {"run": 0 if code not in (0, "did not end") else f"exit {code}"})
