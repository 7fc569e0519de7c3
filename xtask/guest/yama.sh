# Programs of an ordinary user on the device inside the library, in a kernel whose Yama lets only
# ancestors reach a process's memory, and in one that lets all of the user's processes.
#
# Prints a line per run: its title, a tab, and how many calls copied between processes and how many
# were refused; or what went wrong. All that was printed is in /share/*.txt.
set -u
scope=/proc/sys/kernel/yama/ptrace_scope
export IBV_DRIVERS=urxe URXE_NETDEV=lo
user="setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all"
ip link set lo up

# A server and a client that is traced, neither an ancestor of the other; $1 is the title.
pair() {
    title=$1
    shift
    LD_PRELOAD=/share/libibverbs.so.1 $user ib_write_bw -d urxe0 -x 1 -F -s 65536 -n 100 \
        >"/share/$title-server.txt" 2>&1 &
    server=$!
    tries=0
    until grep -q ':4853 .* 0A ' /proc/net/tcp || [ $tries -ge 600 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    $user strace -f -o "/tmp/$title.trace" -e trace=process_vm_readv,process_vm_writev \
        -E LD_PRELOAD=/share/libibverbs.so.1 \
        ib_write_bw -d urxe0 -x 1 -F -s 65536 -n 100 127.0.0.1 >"/share/$title-client.txt" 2>&1
    status=$?
    wait $server
    served=$?
    cp "/tmp/$title.trace" "/share/$title-trace.txt"
    bad=$(cat "/share/$title-server.txt" "/share/$title-client.txt" | grep -ci 'urxe:\|error\|warn')
    # Writes alone reach the other process: reads copy from the own memory, where that may be gone.
    copied=$(grep -c 'process_vm_writev.* = 65536$' "/tmp/$title.trace")
    refused=$(grep -c 'process_vm.* EPERM' "/tmp/$title.trace")
    printf '%s\t%s\n' "$title" "exit $status and $served, $bad messages, $copied copied, $refused refused"
}

# The program that compares each byte; $1 is the title.
matrix() {
    title=$1
    $user env LD_PRELOAD=/share/libibverbs.so.1 timeout 300 /share/matrix urxe0 many "RC, SRQ, new" \
        >"/share/$title.txt" 2>&1
    printf '%s\t%s\n' "$title" "$(tail -n 1 "/share/$title.txt")"
}

chmod 1777 /tmp /dev/shm

echo 1 >$scope || exit 1
pair closed
matrix compared
export URXE_ALLOW_ACCESS=1
pair opened
unset URXE_ALLOW_ACCESS
echo 0 >$scope
pair free
