# What `cargo xtask demo` shows: real programs of Debian on a kernel RDMA device, on our library.
export LD_LIBRARY_PATH=/share/lib
failed=0

# show COMMAND: shows it, runs it, notes a failure.
show() {
    echo
    echo "\$ $*"
    "$@" || failed=$((failed + 1))
}

# pair COMMAND...: the server in the background, the client against it, the client's output.
pair() {
    echo
    echo "\$ $* & sleep 1; $* 10.0.0.1"
    "$@" > /tmp/server.txt 2>&1 &
    server=$!
    sleep 1
    "$@" 10.0.0.1 || failed=$((failed + 1))
    wait $server || failed=$((failed + 1))
}

echo "ibv_devinfo uses $(ldd /usr/bin/ibv_devinfo | grep -o '/share.*libibverbs[^ ]*')"
show ibv_devices
show ibv_devinfo -d rxe0
echo
echo "\$ VERBS_LOG_LEVEL=3 ibv_devices: what the library decided, and why"
VERBS_LOG_LEVEL=3 ibv_devices 2>&1 >/dev/null | head -20
pair ibv_rc_pingpong -d rxe0 -g 1 -n 200
pair ib_write_bw -d rxe0 -x 1 -F -n 200 -s 65536

echo
echo "\$ rping -s -a 10.0.0.1 -C 5 & sleep 1; rping -c -a 10.0.0.1 -C 5 -v"
rping -s -a 10.0.0.1 -C 5 > /tmp/server.txt 2>&1 &
sleep 1
rping -c -a 10.0.0.1 -C 5 -v || failed=$((failed + 1))
echo
echo "failed: $failed"
exit $failed
