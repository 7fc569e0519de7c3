# Runs every opcode over every type of queue pair, in all modes, two at a time.
#
# usage: matrix.sh [PART]: only the links whose title contains PART
#
# Prints a line per mode: its title, a tab, and the last line of the program or how it ended. All
# that was printed is in /share/TITLE.txt.
if [ "$1" = mode ]; then
    title=$2
    shift 2
    timeout -k 5 400 "$@" >"/share/$title.txt" 2>&1
    status=$?
    [ $status -le 1 ] || echo "exit status $status" >>"/share/$title.txt"
    printf '%s\t%s\n' "$title" "$(tail -n 1 "/share/$title.txt")"
    exit
fi
cd /share/abi-tests/urxe || exit 1
preload=$LD_PRELOAD
unset LD_PRELOAD
gcc -O2 -Wall -Werror -o /share/no_access /share/no_access.c || exit 1
gcc -std=gnu17 -O1 -g -Wall -Wextra -Werror -o /share/matrix matrix.c -libverbs || exit 1
export LD_PRELOAD=$preload
# The longest first.
xargs -P2 -L1 sh "$0" mode <<END
"a switch forbids access" env URXE_NO_ACCESS=1 /share/matrix urxe0 many "$1"
"one process" /share/matrix urxe0 one "$1"
"processes" /share/matrix urxe0 many "$1"
"InfiniBand" env URXE_LINK_LAYER=infiniband /share/matrix urxe0 many "$1"
"a user's processes may not trace each other" env URXE_DIR=$URXE_DIR-user setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all /share/matrix urxe0 hidden "${1:-SRQ}"
"the system forbids access" /share/no_access /share/matrix urxe0 many "${1:-new}"
END
