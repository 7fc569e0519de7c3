# The first process of the virtual machine: brings up two software RDMA devices, runs the script
# in the share, leaves its exit status there and switches the machine off.
#
# /share/settings, written by the host: HUGEPAGES (a number), REPLACE (a library in the share that
# takes the place of the installed libibverbs.so.1, or nothing), HIDE (files to remove).

export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8

finish() {
    echo "$1" > /share/status
    sync
    echo o > /proc/sysrq-trigger
    sleep 60
}

fail() {
    echo "vm: $*" | tee -a /share/output.txt
    finish 125
}

mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /tmp
mkdir -p /dev/pts /dev/shm /dev/hugepages
mount -t devpts devpts /dev/pts
mount -t tmpfs tmpfs /dev/shm
mount -t hugetlbfs hugetlbfs /dev/hugepages
hostname guest
# shellcheck source=/dev/null
. /share/settings

if [ -n "$REPLACE" ]; then
    installed=$(readlink -f /usr/lib/x86_64-linux-gnu/libibverbs.so.1)
    rm "$installed"
    cp "$REPLACE" "$installed" || fail "cannot put $REPLACE in the place of $installed"
fi

for file in $HIDE; do
    rm "$file" || fail "cannot remove $file"
done

/usr/lib/systemd/systemd-udevd --daemon || fail "cannot start udevd"
modprobe -a rdma_rxe ib_uverbs rdma_ucm || fail "cannot load the RDMA modules"
sysctl -q -w "vm.nr_hugepages=$HUGEPAGES"

ip link set lo up
ip link add veth0 type veth peer name veth1
ip address add 10.0.0.1/24 dev veth0
ip link set veth0 up
ip link set veth1 up
rdma link add rxe0 type rxe netdev veth0 || fail "cannot add rxe0"
rdma link add rxe1 type rxe netdev veth1 || fail "cannot add rxe1"

ready() {
    [ -c /dev/infiniband/uverbs0 ] && [ -c /dev/infiniband/uverbs1 ] &&
        [ -c /dev/infiniband/rdma_cm ] &&
        ! ip -6 address show tentative | grep -q inet6
}
patience=300
until ready; do
    patience=$((patience - 1))
    [ "$patience" -gt 0 ] || fail "the RDMA devices did not appear"
    sleep 0.1
done

ulimit -l unlimited
cd /share || fail "no share"
setsid sh /share/script > /share/output.txt 2>&1 < /dev/null
finish $?
