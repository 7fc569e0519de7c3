#!/bin/sh
# The initrd's part of the boot: a writable view of the read-only root, then the switch to it.
# Whatever is written goes to memory, so the root file system on the host stays as it was built.

fail() {
    echo "initrd: $*" > /dev/console
    poweroff -f
}

mount -t devtmpfs dev /dev
mount -t proc proc /proc

while read -r module; do
    insmod "/modules/$module" || fail "cannot load $module"
done < /modules/order

options=trans=virtio,version=9p2000.L,msize=1048576
mount -t 9p -o "ro,$options,cache=loose" root /lower || fail "cannot mount the root"
mount -t tmpfs -o size=75% upper /upper
mkdir /upper/data /upper/work
mount -t overlay -o lowerdir=/lower,upperdir=/upper/data,workdir=/upper/work overlay /root ||
    fail "cannot mount the overlay"
mkdir -p /root/share
mount -t 9p -o "$options,cache=mmap" share /root/share || fail "cannot mount the share"

mount -o move /dev /root/dev
umount /proc
exec switch_root /root /bin/sh /share/init
