# Runs Debian's own programs without a device, with and without a library: sh installed.sh LIBRARY
# in a folder for what they print. Whatever they print and their exit status have to be the same.

library=$1
bad=0 count=0

# complain WHAT: shows what went wrong.
complain() {
    echo "BAD $command: $1"
    bad=$((bad + 1))
}

# check COMMAND...: without the library, with it, and with it when every symbol is bound at once.
check() {
    command=$*
    count=$((count + 1))
    "$@" > plain.out 2> plain.err < /dev/null
    echo $? > plain.code
    for now in '' 1; do
        rm -f linked.*
        LD_BIND_NOW=$now LD_PRELOAD=$library LD_DEBUG=files LD_DEBUG_OUTPUT=$PWD/linked \
            "$@" > ours.out 2> ours.err < /dev/null
        echo $? > ours.code
        for what in out err code; do
            diff plain.$what ours.$what > difference ||
                complain "LD_BIND_NOW=$now: $what differs: $(head -5 difference)"
        done
        used=$(sed -n 's/.*calling init: \(.*libibverbs\.so.*\)/\1/p' linked.* | sort -u)
        [ "$used" = "$library" ] || complain "LD_BIND_NOW=$now: its libibverbs is $used"
    done
}

check ibv_devices
check ibv_devinfo
check ib_write_bw --help
check rping
check ucx_info -v
check fi_info --version
check fi_info -p verbs
check /usr/bin/python3 -c 'import pyverbs.device'
# UCX's plugin for RDMA devices; the bandwidths that it measures differ, and so does the memory that is
# free for what it allocates.
check sh -c 'ucx_info -d | grep -v -e bandwidth -e allocate:'

echo "$count programs, $bad bad"
[ $bad = 0 ]
