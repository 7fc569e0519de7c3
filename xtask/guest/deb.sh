# Installs /share/libibverbs-rs.deb beside Debian's packages, uses it as they are used, and removes
# it: all of Debian's files have to be as they were. The last line says what was done.
set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C IBV_DRIVERS=urxe
libdir=/usr/lib/x86_64-linux-gnu
# As ldd says it where /lib is a link to /usr/lib.
shown=/lib/x86_64-linux-gnu
ours=$shown/libibverbs-rs/libibverbs.so.1
fail() { echo "FAILED: $*"; exit 1; }

# Each file of Debian's packages: links with their targets, files with their checksums.
files=$(dpkg -L libibverbs1 libibverbs-dev ibverbs-providers | sort -u)
state() {
    for file in $files; do
        if [ -L "$file" ]; then
            echo "$file -> $(readlink "$file")"
        elif [ -f "$file" ]; then
            sha256sum "$file"
        elif [ ! -d "$file" ]; then
            echo "$file is not there"
        fi
    done
}
# All programs and libraries that need libibverbs.so.1; those of the package apart.
clients() {
    find /usr/bin /usr/sbin /usr/lib -path $libdir/libibverbs-rs -prune -o \
        -type f \( -perm /111 -o -name '*.so*' \) -print | while read -r file; do
        head -c 4 "$file" | grep -q ELF || continue
        readelf -d "$file" 2>/dev/null | grep -q 'NEEDED.*libibverbs.so.1\]' && echo "$file" || :
    done
}
# How many of the files in /tmp/clients get the library that $1 is a pattern of.
resolved() {
    while read -r file; do
        ldd "$file" | grep -Ec "libibverbs.so.1 => (/usr)?$1 " || echo "other: $file" >&2
    done < /tmp/clients | grep -c '^1$'
}

apt-get -qq update
apt-get -qq install -y --no-install-recommends dpkg-dev pkgconf man-db >/dev/null
state > /tmp/before
clients > /tmp/clients
count=$(wc -l < /tmp/clients)
[ "$count" -gt 20 ] || fail "only $count files that need libibverbs"
[ "$(resolved $shown/libibverbs.so.1)" = "$count" ] || fail "not all use Debian's library before"

apt-get install -y /share/libibverbs-rs.deb
[ "$(resolved $ours)" = "$count" ] || fail "not all use the new library"
ldconfig
[ "$(resolved $ours)" = "$count" ] || fail "not all use the new library after ldconfig"
apt-get check
dpkg --verify libibverbs-rs | grep . && fail "files of the package are not as packed"
dpkg --verify libibverbs1 | grep . && fail "files of libibverbs1 were changed"

# They start, and see the device that only the new library has.
ibv_devinfo | grep -q 'hca_id:.*urxe0' || fail "ibv_devinfo"
ibv_devices | grep -q urxe0 || fail "ibv_devices"
for program in ib_send_bw ib_write_lat qperf ucmatose rping udaddy; do
    "$program" --help > /tmp/out 2>&1 || code=$?
    [ -s /tmp/out ] && ! grep -E 'symbol|shared librar' /tmp/out || fail "$program"
done
python3 -c 'import pyverbs.device as d; assert d.get_device_list()[0].name == b"urxe0"' || fail pyverbs
ib_send_bw -d urxe0 -F -n 1000 -s 4096 > /tmp/server 2>&1 &
server=$!
sleep 1
ib_send_bw -d urxe0 -F -n 1000 -s 4096 127.0.0.1 > /tmp/client 2>&1 || { cat /tmp/client; fail ib_send_bw; }
wait $server || { cat /tmp/server; fail "ib_send_bw, the server"; }

# Compiling and linking, and the manual.
cat > /tmp/list.c <<'END'
#include <stdio.h>
#include <infiniband/verbs.h>
int main(void)
{
	int count = 0;
	struct ibv_device **list = ibv_get_device_list(&count);

	if (!list || count != 1)
		return 1;
	puts(ibv_get_device_name(list[0]));
	ibv_free_device_list(list);
	return 0;
}
END
gcc -o /tmp/list /tmp/list.c $(pkg-config --cflags --libs libibverbs)
[ "$(/tmp/list)" = urxe0 ] || fail "a program compiled with the package"
[ "$(pkg-config --modversion libibverbs)" = 1.18.65.0 ] || fail "the version of pkg-config"
man -w ibv_get_device_list | grep -q ibv_get_device_list || fail "the manual"
man 7 urxe > /dev/null || fail "man 7 urxe"

apt-get install -y --reinstall perftest libibverbs-dev
apt-get install -y --reinstall /share/libibverbs-rs.deb
apt-get check
[ "$(resolved $ours)" = "$count" ] || fail "not all use the new library after a reinstallation"

# What packages that are built with it depend on: libibverbs1 of the release that has the names which
# they use, and this package only for names of its own.
mkdir -p /tmp/dependencies/debian
cd /tmp/dependencies
printf 'Source: x\n\nPackage: x\nArchitecture: any\nDescription: x\n' > debian/control
cat > old.c <<'END'
#include <infiniband/verbs.h>
int main(void) { return !ibv_get_device_list(0); }
END
cat > new.c <<'END'
#include <infiniband/verbs.h>
int main(void) { return !ibv_reg_mr_ex(0, 0); }
END
cat > own.c <<'END'
int ibv_poll_cq(void *cq, int count, void *wc);
int main(void) { return ibv_poll_cq(0, 0, 0); }
END
depends() {
    gcc -o "$1" "$1.c" -libverbs && dpkg-shlibdeps -O "$1" 2> /dev/null || fail "dpkg-shlibdeps of $1"
}
depends old | grep 'libibverbs1 (>= 1.1.6)' || fail "what a program depends on"
depends new | grep 'libibverbs1 (>= 59)' || fail "what a program with a new verb depends on"
depends own | grep 'libibverbs-rs (>= 0' || fail "what a program with a name of ours depends on"
! depends new | grep libibverbs-rs || fail "a program depends on this package without need"
cd /

# Without the originals: what depends on libibverbs1 and libibverbs-dev is content with this package.
packages=$(dpkg-query -W -f '${Package} ${Status}\n' | grep -c 'installed$')
apt-get remove -y libibverbs1
left=$(dpkg-query -W -f '${Package} ${Status}\n' | grep -c ' ok installed$')
[ "$left" = $((packages - 2)) ] || fail "$((packages - left)) packages went with libibverbs1"
[ ! -e $libdir/libibverbs.so.1 ] || fail "libibverbs1 is still there"
apt-get check
apt-get remove -y perftest
apt-get install -y perftest
! dpkg -s libibverbs1 2> /dev/null | grep '^Status:.* installed' || fail "perftest needs the original"
[ "$(resolved $ours)" = "$count" ] || fail "not all use the new library without the original"
ibv_devinfo | grep -q 'hca_id:.*urxe0' || fail "ibv_devinfo without the original"
[ "$(/tmp/list)" = urxe0 ] || fail "a program without the original"

# And back again, both ways at once.
apt-get install -y libibverbs1 libibverbs-dev libibverbs-rs-
state > /tmp/after
diff /tmp/before /tmp/after || fail "Debian's files are not as they were after the exchange"
apt-get check
apt-get install -y /share/libibverbs-rs.deb
[ "$(resolved $ours)" = "$count" ] || fail "not all use the new library, installed once more"

apt-get remove -y libibverbs-rs
state > /tmp/after
diff /tmp/before /tmp/after || fail "Debian's files are not as they were"
[ "$(resolved $shown/libibverbs.so.1)" = "$count" ] || fail "not all use Debian's library again"
[ ! -e $libdir/libibverbs-rs ] || fail "$libdir/libibverbs-rs is left"
dpkg-divert --list '*' | grep 'by libibverbs-rs' && fail "diversions are left"
apt-get check
echo "$count programs and libraries moved to it and back, $(wc -l < /tmp/before) files as they were," \
    "also without the originals"
