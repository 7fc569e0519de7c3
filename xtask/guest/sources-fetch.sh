# Installs what compiling the packages of sources.sh takes, and fetches their sources to /src: a folder
# for each, with the sources in "tree", and in "title" what they are.
set -u
export DEBIAN_FRONTEND=noninteractive LC_ALL=C

lists=/etc/apt/sources.list.d/sources.list
sed 's/^deb /deb-src /' /etc/apt/sources.list > $lists
for release in trixie bookworm; do
    echo "deb-src http://deb.debian.org/debian $release main"
done >> $lists
apt-get -q -o Acquire::Check-Valid-Until=false update &&
apt-get -q install -y --no-install-recommends autoconf automake bison ca-certificates cmake curl \
    dpkg-dev flex g++ libibumad-dev libibverbs-dev libnl-3-dev libnl-route-3-dev libnuma-dev \
    libpci-dev librdmacm-dev libsystemd-dev libtool libudev-dev make ninja-build patch pkgconf \
    python3 || exit 1

# Unpacks what apt-get source would: the sources, with Debian's patches. Mirrors can lack files that
# their lists name: without that of Debian's patches the sources are taken as they are. What is
# fetched has the checksum of the signed lists.
piecewise() {
    apt-get source --print-uris --only-source "$1/$2" | grep "^'" | tr -d "'" |
    while read -r uri file _ sum; do
        curl -sfL -o "$file" "$uri" || { rm -f "$file"; echo "not there: $file"; continue; }
        echo "${sum#SHA256:}  $file" | sha256sum -c - || rm -f "$file"
    done
    archive=$(find . -name '*.orig.tar.*' | head -n 1)
    [ -n "$archive" ] || return 1
    title=$(basename "$archive" | sed 's/.orig.tar.*//')
    mkdir tree && tar -xf "$archive" -C tree --strip-components=1 || return 1
    patches=$(find . -maxdepth 1 -name '*.debian.tar.*' | head -n 1)
    if [ -z "$patches" ]; then
        echo "$title without Debian's patches" | tr _ ' ' > title
        return
    fi
    basename "$patches" | sed 's/.debian.tar.*//' | tr _ ' ' > title
    tar -xf "$patches" -C tree && [ -e tree/debian/patches/series ] || return 0
    grep -v '^#' tree/debian/patches/series | while read -r name _; do
        [ -z "$name" ] || patch -d tree -p1 < "tree/debian/patches/$name" || exit 1
    done
}

# The sources of a package, of forky if they can be had there.
fetch() {
    mkdir -p "/src/$1" && cd "/src/$1" || return 1
    for release in forky trixie bookworm; do
        rm -rf ./*
        if apt-get -q source --only-source "$1/$release"; then
            name=$(find . -name '*.dsc' | sed 's|^\./||; s|\.dsc$||')
            echo "$name" | tr _ ' ' > title
            mv "$(find . -mindepth 1 -maxdepth 1 -type d)" tree && return 0
        fi
        rm -rf ./*
        piecewise "$1" "$release" && return 0
    done
    rm -rf ./*
    return 1
}

for package in perftest qperf ucx libfabric rdma-core; do
    fetch "$package" || echo "no sources of $package"
done
cat /src/*/title
# Of what was downloaded only the sources are needed.
find /src -mindepth 2 -maxdepth 2 -type f ! -name title -delete
apt-get clean
rm -rf /var/lib/apt/lists/*
