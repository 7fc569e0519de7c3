"""Moves data between two processes with Mooncake's transfer engine, by RDMA writes and reads.

The engine goes over to TCP if it finds no device, without telling its caller. So what it says about
its transport is looked at, and how much went over the loopback interface, which only this script has:
it runs in a network namespace of its own.
"""

import ctypes
import sys

from mooncake.engine import TransferEngine
from pair import Peer, answer, libraries, patterned, received_on_loopback, tell

SIZE = 64 << 20
HOST = "127.0.0.1"
# What the engine itself sends over TCP: where its buffers are, and how to connect.
MOST_OVER_TCP = 1 << 20


def engine():
    """An engine that has the device of the library, and a buffer."""
    it = TransferEngine()
    if it.initialize(HOST, "P2PHANDSHAKE", "rdma", "urxe0") != 0:
        raise SystemExit("the engine does not start")
    return it, it.allocate_managed_buffer(SIZE)


def peer():
    """Tells where the buffer is, then fills it or compares it with what is to be there."""
    it, buffer = engine()

    def do(question):
        what, *seed = question.split()
        if what == "where":
            return f"{HOST}:{it.get_rpc_port()} {buffer} {' '.join(libraries())}"
        data = patterned(SIZE, int(*seed))
        if what == "fill":
            ctypes.memmove(buffer, data, SIZE)
            return "filled"
        return "same" if ctypes.string_at(buffer, SIZE) == data else "other bytes"

    answer(do)


def main():
    """Writes, reads, and a piece in the middle, each compared."""
    other = Peer("mooncake-peer.txt")
    it, buffer = engine()
    where, theirs, *mapped = other.ask("where").split()
    theirs = int(theirs)

    data = patterned(SIZE, 1)
    ctypes.memmove(buffer, data, SIZE)
    code = it.transfer_sync_write(where, buffer, theirs, SIZE)
    tell("mooncake write 64 MiB", (code and f"exit {code}") or other.ask("compare 1").replace("same", ""))

    other.ask("fill 2")
    code = it.transfer_sync_read(where, buffer, theirs, SIZE)
    same = ctypes.string_at(buffer, SIZE) == patterned(SIZE, 2)
    tell("mooncake read 64 MiB", (code and f"exit {code}") or ("" if same else "other bytes"))

    pieces = [(number * 3_000_017, number * 3_000_017 + 1, 4099 * (number + 1)) for number in range(16)]
    ctypes.memset(buffer, 0, SIZE)
    code = it.batch_transfer_sync_read(
        where,
        [buffer + to for to, _, _ in pieces],
        [theirs + of for _, of, _ in pieces],
        [length for _, _, length in pieces],
    )
    wanted, found = patterned(SIZE, 2), ctypes.string_at(buffer, SIZE)
    same = all(found[to : to + length] == wanted[of : of + length] for to, of, length in pieces)
    tell("mooncake 16 pieces at odd addresses", (code and f"exit {code}") or ("" if same else "other bytes"))

    mapped = sorted({*mapped, *libraries()})
    tell("mooncake one library", "" if len(mapped) == 1 and sys.argv[1] in mapped else " ".join(mapped))
    over_tcp = received_on_loopback()
    tell("mooncake not over TCP", "" if over_tcp < MOST_OVER_TCP else f"{over_tcp} bytes over TCP")
    # The library under test may say what it thinks; only how the process ends counts.
    tell("mooncake end of the peer", other.end() and "failed")


if sys.argv[1] == "peer":
    peer()
else:
    main()
