"""Runs UCX's own test program over the device inside the library."""

from client import end, start, tell, wait_for

PORT = 13400

# Transport, test, layout of the data, size. Without the files in sysfs that tell the type of a GID,
# UCX takes all for those of RoCE version 1: with datagrams only those of IPv6 look the same.
TESTS = (
    ("rc_verbs", "am_lat", "short", 8),
    ("rc_verbs", "am_bw", "bcopy", 1024),
    ("rc_verbs", "put_lat", "short", 8),
    ("rc_verbs", "put_bw", "zcopy", 65536),
    ("rc_verbs", "get", "zcopy", 65536),
    ("rc_verbs", "add_lat", "short", 8),
    ("ud_verbs", "am_lat", "short", 8),
    ("ud_verbs", "am_bw", "bcopy", 512),
)

for number, (transport, test, layout, size) in enumerate(TESTS):
    title = f"UCX {transport} {test} {layout}"
    command = f"ucx_perftest -d urxe0:1 -x {transport} -t {test} -D {layout} -s {size} -n 500"
    command = f"{command} -p {PORT + number}"
    environment = {"UCX_IB_GID_INDEX": "0"}
    server = start(f"{title} server", command, environment)
    wait_for(PORT + number)
    client = start(f"{title} client", f"{command} 127.0.0.1", environment)
    tell(title, {"client": end(client), "server": end(server)})
