# Compiles the sources in /src, of Debian's packages that use verbs: sh sources.sh PACKAGE... With the
# headers, the .pc file and the library in /share in place of Debian's, if there are any; otherwise with
# Debian's own. Prints a line for each package; its log is in /share/logs, and what was built that the
# tests run in /share/built. The file of its name in /share/objects has a line for each object that was
# compiled from one of libibverbs' headers, with the symbols that it takes from elsewhere; that with
# ".config" behind has what configuring found out.
set -u
export LC_ALL=C
libdir=/usr/lib/x86_64-linux-gnu
jobs=$(nproc)
mkdir -p /share/logs /share/built /share/objects
# The headers of the package libibverbs-dev that are libibverbs' own.
ours='(verbs|verbs_api|ib_user_ioctl_verbs|arch|opcode|sa|sa-kern-abi|tm_types)[.]h'

# Ours in place of Debian's: nothing of what the package libibverbs-dev calls its own stays.
replace() {
    for header in /share/infiniband/*.h; do
        rm "/usr/include/infiniband/${header##*/}" &&
        cp "$header" /usr/include/infiniband/ || return 1
    done
    cp /share/libibverbs.pc $libdir/pkgconfig/libibverbs.pc
    rm -f $libdir/libibverbs.a $libdir/libibverbs.so $libdir/libibverbs.so.1*
    cp /share/libibverbs.so.1 $libdir/libibverbs.so.1.18.65.0 &&
    ln -s libibverbs.so.1.18.65.0 $libdir/libibverbs.so.1 &&
    ln -s libibverbs.so.1 $libdir/libibverbs.so &&
    ldconfig
}

perftest() {
    ./autogen.sh && ./configure --disable-cuda && make -j"$jobs" &&
    cp ib_*_bw ib_*_lat raw_ethernet_* /share/built/
}

qperf() {
    ./autogen.sh && ./configure && make -j"$jobs" && cp src/qperf /share/built/
}

# Releases before 1.17 are C before C23, make errors of warnings that compilers had not then, have the
# header of OpenMP, which has templates now, inside of extern "C", and rely on headers of C++ to include
# stdint.h. Programs of its tests take none of the flags for C++ but their own.
ucx() {
    autoreconf -fi && ./configure --with-verbs --with-rdmacm --without-java --without-go \
        --disable-doxygen-doc --disable-openmp --disable-static &&
    grep -q 'define HAVE_IB 1' config.h &&
    make -j"$jobs" CFLAGS="-O1 -std=gnu17 -Wno-error" BASE_CXXFLAGS="-O1 -funwind-tables" \
        CXX="g++ -include stdint.h" &&
    # The transports on verbs must be among what was built.
    [ "$(find . -name 'libuct_ib.so' -o -name 'libuct_rdmacm.so' | wc -l)" -ge 2 ]
}

libfabric() {
    autoreconf -fi && ./configure --enable-verbs=yes --enable-efa=yes --disable-psm3 --disable-opx &&
    grep -q 'define HAVE_VERBS 1' config.h && grep -q 'define HAVE_EFA 1' config.h &&
    make -j"$jobs"
}

# The examples of libibverbs and librdmacm, and librdmacm itself. What the tree has for its own use
# comes from there; libibverbs' headers are taken out of it.
rdma_core() {
    mkdir -p build && cd build &&
    cmake -GNinja -DNO_MAN_PAGES=1 -DNO_PYVERBS=1 -DENABLE_STATIC=0 -DIN_PLACE=1 .. || return 1
    for header in include/infiniband/*.h; do
        name=${header##*/}
        echo "$name" | grep -qxE "$ours" || continue
        rm "$header" && ln -s "/usr/include/infiniband/$name" include/infiniband/ || return 1
    done
    examples=$(ninja -t targets all | sed -n 's|^\(libibverbs/examples/[^:]*\.o\):.*|\1|p')
    rdmacm=$(ninja -t targets all | sed -n 's|^\(librdmacm/[^:]*\.o\):.*|\1|p')
    ninja -k0 $examples $rdmacm || return 1
    # The examples, linked to ours.
    for program in rc_pingpong uc_pingpong ud_pingpong srq_pingpong xsrq_pingpong; do
        cc -o "/share/built/ibv_$program" \
            "libibverbs/examples/CMakeFiles/ibv_$program.dir/$program.c.o" \
            libibverbs/examples/CMakeFiles/ibverbs_tools.dir/pingpong.c.o -libverbs || return 1
    done
}

# The objects that were compiled from one of libibverbs' headers, as automake and ninja have noted it.
users() {
    if [ -e build.ninja ]; then
        ninja -t deps 2> /dev/null | awk -v "ours=(^|/)include/infiniband/$ours\$" '
            /^[^ ]/ { object = $0; sub(/: .*/, "", object) } $1 ~ ours { print object }'
    else
        find . \( -name '*.Po' -o -name '*.Plo' \) \
            -exec grep -lE " /usr/include/infiniband/$ours" {} + |
            sed -n 's|\.deps/\([^/]*\)\.Plo$|.libs/\1.o|p; s|\.deps/\([^/]*\)\.Po$|\1.o|p'
    fi | sort -u
}

# What stands in /share/objects.
objects() {
    for object in $(users); do
        [ -e "$object" ] || { echo "not compiled: $object" >&2; return 1; }
        printf '%s' "$object"
        nm -u "$object" | awk '{ printf " %s", $2 }'
        echo
    done
}

if [ -e /share/infiniband ] && ! replace > /share/logs/replace 2>&1; then
    echo "cannot replace Debian's headers and library"
    exit 1
fi
failed=0
for package in "$@"; do
    log=/share/logs/$package
    start=$(date +%s)
    if ! cd "/src/$package/tree" 2> /dev/null; then
        echo "$package	no sources"
        failed=1
        continue
    fi
    title=$(cat "/src/$package/title")
    if "$(echo "$package" | tr - _)" > "$log" 2>&1 && objects > "/share/objects/$package" 2>> "$log"; then
        find . -name config.h | sort | xargs -r cat > "/share/objects/$package.config"
        count=$(wc -l < "/share/objects/$package")
        echo "$title	ok	$count objects that include libibverbs' headers, $(($(date +%s) - start)) s"
    else
        echo "$title	FAILED"
        grep -m 5 -E '(error|not compiled):|\*\*\*' "$log"
        failed=1
    fi
    # A warning that comes from one of our headers.
    [ ! -e /share/infiniband ] ||
        ! grep -E "(^|/)include/infiniband/$ours:.*(warning|error):" "$log" || failed=1
done
exit $failed
