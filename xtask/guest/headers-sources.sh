# Compiles the sources of Debian's packages that use verbs against the headers, the .pc file and the
# library in /share, in place of Debian's. Prints a line for each package; its log is in /share/logs.
set -u
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
mkdir -p /share/logs /share/built /src
libdir=/usr/lib/x86_64-linux-gnu
jobs=$(nproc)

install_packages() {
    sed 's/^deb /deb-src /' /etc/apt/sources.list > /etc/apt/sources.list.d/sources.list
    for release in trixie bookworm; do
        echo "deb-src http://deb.debian.org/debian $release main"
    done >> /etc/apt/sources.list.d/sources.list
    apt-get -o Acquire::Check-Valid-Until=false update &&
    apt-get install -y --no-install-recommends dpkg-dev autoconf automake libtool make pkgconf \
        g++ curl ca-certificates cmake ninja-build libpci-dev libnl-3-dev libnl-route-3-dev libudev-dev libsystemd-dev \
        libibumad-dev librdmacm-dev libibverbs-dev libnuma-dev python3 patch flex bison
}

# Ours in place of Debian's: nothing of what the package libibverbs-dev calls its own stays.
replace() {
    for header in /share/infiniband/*.h; do
        rm "/usr/include/infiniband/${header##*/}"
        cp "$header" /usr/include/infiniband/
    done
    cp /share/libibverbs.pc $libdir/pkgconfig/libibverbs.pc
    rm -f $libdir/libibverbs.a $libdir/libibverbs.so $libdir/libibverbs.so.1*
    cp /share/libibverbs.so.1 $libdir/libibverbs.so.1.18.65.0
    ln -s libibverbs.so.1.18.65.0 $libdir/libibverbs.so.1
    ln -s libibverbs.so.1 $libdir/libibverbs.so
    ldconfig
}

# Fetches and unpacks the sources of a package, with Debian's patches. Mirrors of testing can be
# behind their own lists: without the file of patches the sources are taken as they are, and without
# the sources those of an older release. What is fetched has the checksum of the signed lists.
source_of() {
    for release in forky trixie bookworm; do
        mkdir -p "/src/$1" && cd "/src/$1" && rm -rf ./* || return 1
        apt-get source --print-uris --only-source "$1/$release" | grep "^'" | tr -d "'" |
        while read -r uri file _ sum; do
            curl -sfL -o "$file" "$uri" || { rm -f "$file"; echo "not there: $file"; continue; }
            echo "${sum#SHA256:}  $file" | sha256sum -c - || rm -f "$file"
        done
        archive=$(find . -name '*.orig.tar.*' | head -n 1)
        [ -n "$archive" ] && break
    done
    [ -n "$archive" ] || return 1
    mkdir tree && tar -xf "$archive" -C tree --strip-components=1 && cd tree || return 1
    patches=$(find .. -maxdepth 1 -name '*.debian.tar.*' | head -n 1)
    title=$(basename "$archive" | sed 's/.orig.tar.*//')
    [ -n "$patches" ] || { title="$title without Debian's patches"; return 0; }
    tar -xf "$patches" && [ -e debian/patches/series ] || return 0
    grep -v '^#' debian/patches/series | while read -r name _; do
        [ -z "$name" ] || patch -p1 < "debian/patches/$name" || exit 1
    done
}

perftest() {
    ./autogen.sh && ./configure --disable-cuda && make -j"$jobs" &&
    cp ib_*_bw ib_*_lat raw_ethernet_* /share/built/
}

qperf() {
    ./autogen.sh && ./configure && make -j"$jobs" && cp src/qperf /share/built/
}

ucx() {
    autoreconf -fi && ./configure --with-verbs --with-rdmacm --without-java --without-go \
        --disable-doxygen-doc &&
    # An older release makes an error of every warning, and is C before C23.
    make -j"$jobs" CFLAGS="-O2 -std=gnu17 -Wno-error" CXXFLAGS="-O2 -Wno-error"
    status=$?
    # The transport on verbs must be among what was built.
    find . -name 'libuct_ib*.so' | grep -q . && return $status
}

libfabric() {
    autoreconf -fi && ./configure --enable-verbs=yes --enable-efa=yes --disable-psm3 --disable-opx &&
    make -j"$jobs" && grep -q 'define HAVE_VERBS 1' config.h
}

# The examples of libibverbs and librdmacm, and librdmacm itself. What the tree has for its own use
# comes from there; libibverbs' headers are taken out of it.
rdma_core() {
    mkdir -p build && cd build &&
    cmake -GNinja -DNO_MAN_PAGES=1 -DNO_PYVERBS=1 -DENABLE_STATIC=0 -DIN_PLACE=1 .. || return 1
    for header in /share/infiniband/*.h; do
        rm -f "include/infiniband/${header##*/}"
        ln -s "/usr/include/infiniband/${header##*/}" include/infiniband/
    done
    examples=$(ninja -t targets all | sed -n 's|^\(libibverbs/examples/[^:]*\.o\):.*|\1|p')
    rdmacm=$(ninja -t targets all | sed -n 's|^\(librdmacm/[^:]*\.o\):.*|\1|p')
    ninja -k0 $examples $rdmacm || return 1
    echo "$examples $rdmacm" | wc -w
    # The examples, linked to ours.
    for program in rc_pingpong uc_pingpong ud_pingpong srq_pingpong xsrq_pingpong; do
        cc -o "/share/built/ibv_$program" \
            "libibverbs/examples/CMakeFiles/ibv_$program.dir/$program.c.o" \
            libibverbs/examples/CMakeFiles/ibverbs_tools.dir/pingpong.c.o -libverbs || return 1
    done
}

failed=0
install_packages > /share/logs/install 2>&1 || { echo "cannot install: see install"; exit 1; }
for package in ${1:-perftest qperf ucx libfabric rdma-core}; do
    log=/share/logs/$package
    start=$(date +%s)
    if ! source_of "$package" > "$log" 2>&1; then
        echo "$package	no source"; failed=1; continue
    fi
    [ -e /share/replaced ] || { replace > /share/logs/replace 2>&1 && touch /share/replaced; } || exit 1
    if "$(echo "$package" | tr - _)" >> "$log" 2>&1; then
        echo "$title	ok	$(($(date +%s) - start)) s"
    else
        echo "$package	FAILED"; failed=1
    fi
    # A warning or an error that comes from one of our headers.
    grep -E '^(In file included from )?/usr/include/infiniband/(verbs|verbs_api|ib_user_ioctl_verbs|arch|opcode|sa|sa-kern-abi|tm_types)\.h:.*(warning|error):' "$log" && failed=1
done
exit $failed
