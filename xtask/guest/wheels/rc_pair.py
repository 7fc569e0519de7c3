"""Each operation of the wheel `ibverbs` between two processes; every byte is compared.

This process posts, its peer shows what arrived.
"""

import ctypes
import select
import struct
import sys
import time

import ibverbs as ib
from pair import Peer, answer, libraries, patterned, received_on_loopback, tell

SIZE = 4 << 20
PORT, GID = 1, 1
QKEY = 0x11111111
GRH = 40
ALL = (
    ib.AccessFlags.LOCAL_WRITE
    | ib.AccessFlags.REMOTE_WRITE
    | ib.AccessFlags.REMOTE_READ
    | ib.AccessFlags.REMOTE_ATOMIC
)
BOTH_WAYS = ib.AccessFlags.LOCAL_WRITE | ib.AccessFlags.REMOTE_WRITE | ib.AccessFlags.REMOTE_READ


class Side:
    """What either process has: a region, and a queue pair of the type, RC also with shared receives."""

    def __init__(self, kind, shared=False):
        device = next(device for device in ib.get_device_list() if device.name == "urxe0")
        self.context = device.open()
        self.pd = self.context.alloc_pd()
        self.channel = self.context.create_comp_channel()
        self.cq = self.context.create_cq(64, channel=self.channel)
        self.memory = ctypes.create_string_buffer(SIZE)
        self.mr = self.pd.reg_mr(ctypes.addressof(self.memory), SIZE, ALL)
        self.srq = self.pd.create_srq() if shared else None
        self.kind = kind
        self.qp = self.pd.create_qp(
            ib.QPInitAttr(self.cq, self.cq, kind, max_send_sge=2, max_inline_data=64, srq=self.srq)
        )

    def told(self):
        """What the other side has to know."""
        own = ib.local_qp_info(
            self.qp, self.context.query_port(PORT), self.context.query_gid(PORT, GID), port=PORT
        )
        return f"{own.to_bytes().hex()} {self.mr.addr} {self.mr.rkey}"

    def connect(self, remote):
        """Brings the queue pair to where it can send."""
        remote = ib.QPInfo.from_bytes(bytes.fromhex(remote))
        if self.kind == ib.QPType.RC:
            ib.connect_rc(self.qp, remote, port=PORT, sgid_index=GID, access=ALL, rnr_retry=0)
            return
        if self.kind == ib.QPType.UD:
            self.qp.to_init(PORT, qkey=QKEY)
            self.qp.modify(ib.QPAttrMask.STATE, qp_state=ib.QPState.RTR)
            mask = ib.QPAttrMask.STATE | ib.QPAttrMask.SQ_PSN
        else:
            self.qp.to_init(PORT, BOTH_WAYS)
            path = ib.AHAttr(dgid=remote.gid, sgid_index=GID, port_num=PORT)
            mask = (
                ib.QPAttrMask.STATE
                | ib.QPAttrMask.AV
                | ib.QPAttrMask.PATH_MTU
                | ib.QPAttrMask.DEST_QPN
                | ib.QPAttrMask.RQ_PSN
            )
            self.qp.modify(
                mask,
                ah_attr=path,
                qp_state=ib.QPState.RTR,
                path_mtu=remote.mtu,
                dest_qp_num=remote.qp_num,
                rq_psn=0,
            )
            mask = ib.QPAttrMask.STATE | ib.QPAttrMask.SQ_PSN
        self.qp.modify(mask, qp_state=ib.QPState.RTS, sq_psn=0)

    def receive(self, length):
        """Posts a receive of so many bytes at the beginning of the region."""
        request = ib.RecvWR(1, [ib.SGE(self.mr, length)] if length else [])
        (self.srq or self.qp).post_recv(request)

    def completion(self):
        """The next completion, for which the process sleeps."""
        limit = time.monotonic() + 10
        while time.monotonic() < limit:
            found = self.cq.poll(1)
            if found:
                return found[0]
            self.cq.req_notify()
            found = self.cq.poll(1)
            if found:
                return found[0]
            if select.select([self.channel.fd], [], [], 1)[0]:
                self.channel.get_cq_event()
                self.cq.ack_events()
        raise SystemExit("no completion")


def peer():
    """Makes what it is asked for, and shows what it has."""
    side = None

    def do(question):
        nonlocal side
        what, *words = question.split()
        if what == "make":
            side = Side(int(words[0]), words[1] == "True")
            return side.told()
        if what == "connect":
            side.connect(*words)
        elif what == "fill":
            side.memory.raw = patterned(SIZE, int(*words))
        elif what == "receive":
            side.receive(int(*words))
        elif what == "completion":
            found = side.completion()
            return f"{found.status} {found.byte_len} {found.imm_data if found.wc_flags & 2 else '-'}"
        elif what == "same":
            at, length, seed = map(int, words)
            return str(side.memory.raw[at : at + length] == patterned(SIZE, seed)[:length])
        elif what == "word":
            return str(struct.unpack_from("<Q", side.memory)[0])
        elif what == "libraries":
            return " ".join(libraries())
        return "done"

    answer(do)


class Pair:
    """Two connected sides, of which one is in the other process."""

    def __init__(self, other, kind, shared=False):
        self.other = other
        self.near = Side(kind, shared)
        remote, address, key = other.ask(f"make {int(kind)} {shared}").split()
        self.address, self.key, self.remote = int(address), int(key), ib.QPInfo.from_bytes(bytes.fromhex(remote))
        self.near.connect(remote)
        other.ask(f"connect {self.near.told().split()[0]}")

    def post(self, opcode, pieces, flags=ib.SendFlags.SIGNALED, **fields):
        """Posts a request; the status of its completion."""
        self.near.qp.post_send(ib.SendWR(7, pieces, opcode, flags, **fields))
        found = self.near.completion()
        if found.wr_id != 7:
            raise SystemExit(f"request {found.wr_id}")
        return ib.WCStatus(found.status)

    def moved(self, opcode, length, seed, at=0, immediate=None, **fields):
        """Sends or writes so many bytes of that seed; what is wrong then."""
        self.near.memory.raw = patterned(SIZE, seed)
        self.other.ask("fill 0")
        waits = opcode in (ib.WROpcode.SEND, ib.WROpcode.SEND_WITH_IMM) or immediate is not None
        writes = opcode in (ib.WROpcode.RDMA_WRITE, ib.WROpcode.RDMA_WRITE_WITH_IMM)
        if waits:
            self.other.ask(f"receive {0 if writes else length + at}")
        if writes:
            fields |= {"remote_addr": self.address + at, "rkey": self.key}
        if immediate is not None:
            fields["imm_data"] = immediate
        half = length // 2
        pieces = [ib.SGE(self.near.mr, half), ib.SGE(self.near.mr, length - half, offset=half)]
        status = self.post(opcode, pieces, **fields)
        if status != ib.WCStatus.SUCCESS:
            return status.name
        if waits:
            told = f"0 {length + (0 if writes else at)} {'-' if immediate is None else immediate}"
            arrived = self.other.ask("completion")
            if arrived != told:
                return f"the completion is {arrived}, not {told}"
        if self.other.ask(f"same {at} {length} {seed}") != "True":
            return "other bytes"
        return ""


def reliable(other, shared):
    """All operations of a reliable connection."""
    title = "ibverbs RC, shared receives:" if shared else "ibverbs RC:"
    pair = Pair(other, ib.QPType.RC, shared)
    tell(f"{title} send", pair.moved(ib.WROpcode.SEND, SIZE, 1))
    tell(f"{title} send with data", pair.moved(ib.WROpcode.SEND_WITH_IMM, 4097, 2, immediate=0x01020304))
    tell(f"{title} write", pair.moved(ib.WROpcode.RDMA_WRITE, SIZE - 3, 3, at=3))
    wrong = pair.moved(ib.WROpcode.RDMA_WRITE_WITH_IMM, 1 << 20, 4, at=5, immediate=9)
    tell(f"{title} write with data", wrong)
    inline = ib.SendFlags.SIGNALED | ib.SendFlags.INLINE
    tell(f"{title} inline", pair.moved(ib.WROpcode.RDMA_WRITE, 64, 5, at=1, flags=inline))

    there = {"remote_addr": pair.address, "rkey": pair.key}
    other.ask("fill 6")
    status = pair.post(ib.WROpcode.RDMA_READ, [ib.SGE(pair.near.mr, SIZE)], **there)
    same = pair.near.memory.raw == patterned(SIZE, 6)
    tell(f"{title} read", "" if status == 0 and same else f"{status.name}, same: {same}")

    before = int(other.ask("word"))
    word = [ib.SGE(pair.near.mr, 8)]
    wrong = []
    for opcode, compare_add, swap, wanted in (
        (ib.WROpcode.ATOMIC_FETCH_AND_ADD, 5, 0, before + 5),
        (ib.WROpcode.ATOMIC_CMP_AND_SWP, before, 1, before + 5),
        (ib.WROpcode.ATOMIC_CMP_AND_SWP, before + 5, 1, 1),
    ):
        was = int(other.ask("word"))
        status = pair.post(opcode, word, compare_add=compare_add, swap=swap, **there)
        found = (status, struct.unpack_from("<Q", pair.near.memory)[0], int(other.ask("word")))
        if found != (ib.WCStatus.SUCCESS, was, wanted):
            wrong.append(f"{opcode.name}: {found}")
    tell(f"{title} atomics", ", ".join(wrong))

    status = pair.post(ib.WROpcode.RDMA_WRITE, word, remote_addr=pair.address, rkey=pair.key ^ 1)
    tell(f"{title} a wrong key", "" if status == ib.WCStatus.REM_ACCESS_ERR else status.name)
    status = pair.post(ib.WROpcode.RDMA_WRITE, word, **there)
    tell(f"{title} flushed behind it", "" if status == ib.WCStatus.WR_FLUSH_ERR else status.name)
    pair = Pair(other, ib.QPType.RC, shared)
    status = pair.post(ib.WROpcode.SEND, [ib.SGE(pair.near.mr, 8)])
    tell(f"{title} no receive", "" if status == ib.WCStatus.RNR_RETRY_EXC_ERR else status.name)


def main():
    """Each type of queue pair."""
    other = Peer("ibverbs-peer.txt")
    reliable(other, False)
    reliable(other, True)

    pair = Pair(other, ib.QPType.UC)
    tell("ibverbs UC: send", pair.moved(ib.WROpcode.SEND, SIZE, 11))
    tell("ibverbs UC: write", pair.moved(ib.WROpcode.RDMA_WRITE, SIZE, 12))
    wrong = pair.moved(ib.WROpcode.RDMA_WRITE_WITH_IMM, 8191, 13, immediate=1)
    tell("ibverbs UC: write with data", wrong)

    pair = Pair(other, ib.QPType.UD)
    path = ib.AHAttr(dgid=pair.remote.gid, sgid_index=GID, port_num=PORT)
    fields = {"ah": pair.near.pd.create_ah(path), "remote_qpn": pair.remote.qp_num, "remote_qkey": QKEY}
    tell("ibverbs UD: send", pair.moved(ib.WROpcode.SEND, 1024, 21, at=GRH, **fields))
    wrong = pair.moved(ib.WROpcode.SEND_WITH_IMM, 1000, 22, at=GRH, immediate=0xFFFFFFFF, **fields)
    tell("ibverbs UD: send with data", wrong)

    mapped = sorted({*other.ask("libraries").split(), *libraries()})
    tell("ibverbs one library", "" if mapped == [sys.argv[1]] else " ".join(mapped))
    over_tcp = received_on_loopback()
    tell("ibverbs nothing over TCP", over_tcp and f"{over_tcp} bytes over TCP")
    tell("ibverbs end of the peer", other.end() and "failed")


if sys.argv[1] == "peer":
    peer()
else:
    main()
