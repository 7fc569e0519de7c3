# Compiles the sources in /src, of Debian's packages that use verbs, against the headers, the .pc file
# and the library in /share, in place of Debian's: sh sources.sh PACKAGE... Prints a line for each
# package; its log is in /share/logs, and what was built that the tests run in /share/built.
set -u
export LC_ALL=C
libdir=/usr/lib/x86_64-linux-gnu
jobs=$(nproc)
mkdir -p /share/logs /share/built

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

# Releases before 1.17 are C before C23, make errors of warnings that compilers had not then, and have
# the header of OpenMP, which has templates now, inside of extern "C", and rely on headers of C++ to
# include stdint.h. CXXFLAGS of its own have to stay.
ucx() {
    autoreconf -fi && ./configure --with-verbs --with-rdmacm --without-java --without-go \
        --disable-doxygen-doc --disable-openmp --disable-static &&
    grep -q 'define HAVE_IB 1' config.h &&
    make -j"$jobs" CFLAGS="-O1 -std=gnu17 -Wno-error" BASE_CXXFLAGS="-O1 -funwind-tables -include stdint.h" &&
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
    for header in /share/infiniband/*.h; do
        rm -f "include/infiniband/${header##*/}"
        ln -s "/usr/include/infiniband/${header##*/}" include/infiniband/
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

# How many objects were compiled from sources that include one of libibverbs' headers, as automake
# and ninja have noted it for each.
users() {
    if [ -e build.ninja ]; then
        ninja -t deps 2> /dev/null | awk '/^[^ ]/ { seen = 0 }
            / (include|.*\/include)\/infiniband\/verbs\.h$/ && !seen { seen = 1; count++ }
            END { print count + 0 }'
    else
        find . \( -name '*.Po' -o -name '*.Plo' \) -exec grep -l ' /usr/include/infiniband/' {} + | wc -l
    fi
}

replace > /share/logs/replace 2>&1 || { echo "cannot replace Debian's headers and library"; exit 1; }
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
    if "$(echo "$package" | tr - _)" > "$log" 2>&1; then
        echo "$title	ok	$(users) objects that include our headers, $(($(date +%s) - start)) s"
    else
        echo "$title	FAILED"
        failed=1
    fi
    # A warning or an error that comes from one of our headers.
    ours='verbs|verbs_api|ib_user_ioctl_verbs|arch|opcode|sa|sa-kern-abi|tm_types'
    grep -E "^/usr/include/infiniband/($ours)\.h:.*(warning|error):" "$log" && failed=1
done
exit $failed
