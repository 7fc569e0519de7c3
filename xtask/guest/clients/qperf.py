"""Runs qperf, which fills in no global route, over the device inside the library."""

from client import end, kill, start, tell, wait_for

TESTS = "rc_bw rc_lat uc_bw ud_lat rc_rdma_write_bw rc_rdma_read_lat rc_compare_swap_mr"

environment = {"URXE_LINK_LAYER": "infiniband"}
server = start("qperf server", "qperf", environment)
wait_for(19765)
for test in TESTS.split():
    client = start(f"qperf {test}", f"qperf 127.0.0.1 -t 1 {test}", environment)
    tell(f"qperf {test}", {"client": end(client)})
kill(server)
