#!/usr/bin/env python3
"""RDMA from a language that cannot compile C's inline functions: nothing but ctypes.

usage: plain_symbols.py DEVICE [LIBRARY]

Sends, writes, reads, adds atomically and binds a memory window of type 1 over a queue pair that is
connected with another one on the same device, by the functions that C has as inline functions:
they are plain symbols of the version node IBVERBS_RS_1.0. A library without that node is said to
be one, with exit status 77.
"""

import ctypes
import sys
import time
from ctypes import POINTER, byref, c_int, c_size_t, c_uint8, c_uint16, c_uint32, c_uint64
from ctypes import c_void_p

NODE = b"IBVERBS_RS_1.0"
PLAIN = """
    ___ibv_query_port ibv_query_device_ex ibv_query_gid_ex ibv_post_send ibv_post_recv ibv_poll_cq
    ibv_req_notify_cq ibv_alloc_mw ibv_dealloc_mw ibv_bind_mw ibv_create_cq_ex ibv_start_poll
    ibv_next_poll ibv_end_poll ibv_wc_read_opcode ibv_wc_read_byte_len ibv_wc_read_imm_data
    ibv_create_qp_ex ibv_wr_start ibv_wr_rdma_write ibv_wr_set_sge ibv_wr_complete
""".split()

RC, INIT, RTR, RTS = 2, 1, 2, 3
LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC, MW_BIND = 1, 2, 4, 8, 16
ALL_ACCESS = LOCAL_WRITE | REMOTE_WRITE | REMOTE_READ | REMOTE_ATOMIC | MW_BIND
WRITE, WRITE_IMM, SEND, SEND_IMM, READ, CMP_SWP, FETCH_ADD = range(7)
SIGNALED, INLINE = 2, 8


class GidEntry(ctypes.Structure):
    _fields_ = [("gid", c_uint64 * 2), ("gid_index", c_uint32), ("port_num", c_uint32),
                ("gid_type", c_uint32), ("ndev_ifindex", c_uint32)]


class Sge(ctypes.Structure):
    _fields_ = [("addr", c_uint64), ("length", c_uint32), ("lkey", c_uint32)]


class RecvWr(ctypes.Structure):
    pass


RecvWr._fields_ = [("wr_id", c_uint64), ("next", POINTER(RecvWr)), ("sg_list", POINTER(Sge)),
                   ("num_sge", c_int)]


class Rdma(ctypes.Structure):
    _fields_ = [("remote_addr", c_uint64), ("rkey", c_uint32)]


class Atomic(ctypes.Structure):
    _fields_ = [("remote_addr", c_uint64), ("compare_add", c_uint64), ("swap", c_uint64),
                ("rkey", c_uint32)]


class Wr(ctypes.Union):
    _fields_ = [("rdma", Rdma), ("atomic", Atomic), ("pad", c_uint64 * 4)]


class SendWr(ctypes.Structure):
    pass


SendWr._fields_ = [("wr_id", c_uint64), ("next", POINTER(SendWr)), ("sg_list", POINTER(Sge)),
                   ("num_sge", c_int), ("opcode", c_int), ("send_flags", c_uint32),
                   ("imm_data", c_uint32), ("wr", Wr), ("qp_type", c_uint64),
                   ("bind_mw_or_tso", c_uint64 * 6)]


class Wc(ctypes.Structure):
    _fields_ = [("wr_id", c_uint64), ("status", c_int), ("opcode", c_int), ("vendor_err", c_uint32),
                ("byte_len", c_uint32), ("imm_data", c_uint32), ("qp_num", c_uint32),
                ("src_qp", c_uint32), ("wc_flags", c_uint32), ("pkey_index", c_uint16),
                ("slid", c_uint16), ("sl", c_uint8), ("dlid_path_bits", c_uint8)]


class Mr(ctypes.Structure):
    _fields_ = [("context", c_void_p), ("pd", c_void_p), ("addr", c_void_p), ("length", c_size_t),
                ("handle", c_uint32), ("lkey", c_uint32), ("rkey", c_uint32)]


class Mw(ctypes.Structure):
    _fields_ = [("context", c_void_p), ("pd", c_void_p), ("rkey", c_uint32), ("handle", c_uint32),
                ("type", c_int)]


class MwBind(ctypes.Structure):
    _fields_ = [("wr_id", c_uint64), ("send_flags", c_uint32), ("mr", POINTER(Mr)),
                ("addr", c_uint64), ("length", c_uint64), ("mw_access_flags", c_uint32)]


class Cap(ctypes.Structure):
    _fields_ = [(name, c_uint32) for name in
                ("max_send_wr", "max_recv_wr", "max_send_sge", "max_recv_sge", "max_inline_data")]


class QpInit(ctypes.Structure):
    _fields_ = [("qp_context", c_void_p), ("send_cq", c_void_p), ("recv_cq", c_void_p),
                ("srq", c_void_p), ("cap", Cap), ("qp_type", c_int), ("sq_sig_all", c_int)]


class GlobalRoute(ctypes.Structure):
    _fields_ = [("dgid", c_uint64 * 2), ("flow_label", c_uint32), ("sgid_index", c_uint8),
                ("hop_limit", c_uint8), ("traffic_class", c_uint8)]


class AhAttr(ctypes.Structure):
    _fields_ = [("grh", GlobalRoute), ("dlid", c_uint16), ("sl", c_uint8),
                ("src_path_bits", c_uint8), ("static_rate", c_uint8), ("is_global", c_uint8),
                ("port_num", c_uint8)]


class QpAttr(ctypes.Structure):
    _fields_ = [(name, c_uint32) for name in
                ("qp_state", "cur_qp_state", "path_mtu", "path_mig_state", "qkey", "rq_psn",
                 "sq_psn", "dest_qp_num", "qp_access_flags")] + [
        ("cap", Cap), ("ah_attr", AhAttr), ("alt_ah_attr", AhAttr), ("pkey_index", c_uint16),
        ("alt_pkey_index", c_uint16)] + [(name, c_uint8) for name in
                ("en_sqd_async_notify", "sq_draining", "max_rd_atomic", "max_dest_rd_atomic",
                 "min_rnr_timer", "port_num", "timeout", "retry_cnt", "rnr_retry", "alt_port_num",
                 "alt_timeout")] + [("rate_limit", c_uint32)]


class QpHead(ctypes.Structure):
    """The first members of struct ibv_qp, up to the number that the peer has to know."""

    _fields_ = [("context", c_void_p), ("qp_context", c_void_p), ("pd", c_void_p),
                ("send_cq", c_void_p), ("recv_cq", c_void_p), ("srq", c_void_p),
                ("handle", c_uint32), ("qp_num", c_uint32), ("state", c_int), ("qp_type", c_int)]


POINTERS = {
    "ibv_get_device_list", "ibv_open_device", "ibv_alloc_pd", "ibv_create_cq", "ibv_create_qp",
    "ibv_reg_mr", "ibv_alloc_mw",
}


class Verbs:
    """The library; its functions take and return what C's do, and None becomes NULL."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path, use_errno=True)
        libc = ctypes.CDLL(None)
        libc.dlvsym.restype = c_void_p
        libc.dlvsym.argtypes = [c_void_p, ctypes.c_char_p, ctypes.c_char_p]
        handle = c_void_p(self.library._handle)
        self.missing = [name for name in PLAIN if not libc.dlvsym(handle, name.encode(), NODE)]

    def __getattr__(self, name):
        function = getattr(self.library, name)
        if name in POINTERS:
            function.restype = c_void_p
        return function


def check(condition, what):
    """Ends the program unless something is as it has to be."""
    if not condition:
        sys.exit(f"failed: {what} (errno {ctypes.get_errno()})")


class Loop:
    """Two connected queue pairs of one device, and memory that both may use."""

    def __init__(self, verbs, name):
        self.verbs = verbs
        count = c_int(-1)
        devices = verbs.ibv_get_device_list(byref(count))
        check(devices and count.value > 0, "device list")
        array = ctypes.cast(devices, POINTER(c_void_p))
        verbs.library.ibv_get_device_name.restype = ctypes.c_char_p
        names = {
            verbs.library.ibv_get_device_name(c_void_p(array[i])): array[i]
            for i in range(count.value)
        }
        self.context = c_void_p(verbs.ibv_open_device(c_void_p(names[name.encode()])))
        check(self.context, "open")
        verbs.ibv_free_device_list(c_void_p(devices))
        self.pd = c_void_p(verbs.ibv_alloc_pd(self.context))
        self.cq = c_void_p(verbs.ibv_create_cq(self.context, 32, None, None, 0))
        self.gid_index, self.gid = self.ipv4_gid()
        self.memory = ctypes.create_string_buffer(8192)
        self.base = ctypes.addressof(self.memory)
        self.mr = self.register()
        self.qps = [self.create_qp() for _ in range(2)]
        numbers = [ctypes.cast(qp, POINTER(QpHead)).contents.qp_num for qp in self.qps]
        self.connect(self.qps[0], numbers[1])
        self.connect(self.qps[1], numbers[0])

    def ipv4_gid(self):
        """Index and value of the GID that is an IPv4 address, by the plain ibv_query_gid_ex."""
        entry = GidEntry()
        for index in range(16):
            ret = self.verbs.ibv_query_gid_ex(self.context, 1, index, byref(entry), 0)
            if not ret and bytes(entry.gid)[:12] == bytes(10) + b"\xff\xff":
                return index, tuple(entry.gid)
        sys.exit("no IPv4 GID")

    def register(self):
        mr = self.verbs.ibv_reg_mr(
            self.pd, c_void_p(self.base), c_size_t(len(self.memory)), ALL_ACCESS
        )
        check(mr, "reg_mr")
        return ctypes.cast(mr, POINTER(Mr))

    def create_qp(self):
        init = QpInit(
            send_cq=self.cq, recv_cq=self.cq, qp_type=RC,
            cap=Cap(16, 16, 1, 1, 64),
        )
        qp = self.verbs.ibv_create_qp(self.pd, byref(init))
        check(qp, "create_qp")
        return c_void_p(qp)

    def connect(self, qp, peer):
        def modify(mask, **members):
            attr = QpAttr(**members)
            check(self.verbs.ibv_modify_qp(qp, byref(attr), mask) == 0, f"modify_qp {mask:#x}")

        modify(0x39, qp_state=INIT, port_num=1, qp_access_flags=ALL_ACCESS & ~MW_BIND)
        route = GlobalRoute(
            dgid=(c_uint64 * 2)(*self.gid), sgid_index=self.gid_index, hop_limit=64
        )
        modify(
            0x129181, qp_state=RTR, path_mtu=3, dest_qp_num=peer, rq_psn=9,
            max_dest_rd_atomic=1, min_rnr_timer=1,
            ah_attr=AhAttr(grh=route, is_global=1, port_num=1),
        )
        modify(
            0x12e01, qp_state=RTS, sq_psn=9, timeout=14, retry_cnt=7, rnr_retry=7, max_rd_atomic=1
        )

    def sge(self, offset, length):
        return Sge(self.base + offset, length, self.mr.contents.lkey)

    def post(self, opcode, sge, flags=SIGNALED, imm=0, **wr):
        request = SendWr(
            wr_id=opcode, sg_list=ctypes.pointer(sge), num_sge=1, opcode=opcode, send_flags=flags,
            imm_data=imm,
        )
        which = request.wr.atomic if "compare_add" in wr else request.wr.rdma
        for member, value in wr.items():
            setattr(which, member, value)
        bad = POINTER(SendWr)()
        check(self.verbs.ibv_post_send(self.qps[0], byref(request), byref(bad)) == 0, "post_send")

    def receive(self, sge):
        request = RecvWr(wr_id=99, sg_list=ctypes.pointer(sge), num_sge=1)
        bad = POINTER(RecvWr)()
        check(self.verbs.ibv_post_recv(self.qps[1], byref(request), byref(bad)) == 0, "post_recv")

    def completions(self, count):
        wc, found, end = (Wc * count)(), [], time.monotonic() + 10
        while len(found) < count and time.monotonic() < end:
            got = self.verbs.ibv_poll_cq(self.cq, count, wc)
            check(got >= 0, "poll_cq")
            found += [
                {name: getattr(wc[i], name) for name, *_ in Wc._fields_} for i in range(got)
            ]
        check(len(found) == count, f"{count} completions")
        return sorted(found, key=lambda entry: entry["wr_id"])

    def at(self, offset, length):
        return self.memory.raw[offset : offset + length]

    def put(self, offset, data):
        ctypes.memmove(self.base + offset, data, len(data))

    def close(self):
        for qp in self.qps:
            check(self.verbs.ibv_destroy_qp(qp) == 0, "destroy_qp")
        check(self.verbs.ibv_dereg_mr(self.mr) == 0, "dereg_mr")
        check(self.verbs.ibv_destroy_cq(self.cq) == 0, "destroy_cq")
        check(self.verbs.ibv_dealloc_pd(self.pd) == 0, "dealloc_pd")
        check(self.verbs.ibv_close_device(self.context) == 0, "close_device")


def good(entries, *opcodes):
    """Checks status and opcode of completions."""
    check([entry["status"] for entry in entries] == [0] * len(opcodes), f"status of {entries}")
    check([entry["opcode"] for entry in entries] == list(opcodes), f"opcodes of {entries}")


def run(loop):
    """Every operation once, and what it has to do to the memory."""
    rkey, target = loop.mr.contents.rkey, loop.base + 4096

    loop.put(0, b"sent through plain symbols")
    loop.receive(loop.sge(4096, 100))
    loop.post(SEND_IMM, loop.sge(0, 26), imm=0x01020304)
    entries = loop.completions(2)
    good(entries, 0, 128)
    check(entries[1]["byte_len"] == 26 and entries[1]["imm_data"] == 0x01020304, "received")
    check(loop.at(4096, 26) == b"sent through plain symbols", "data of send")
    print("send")

    loop.put(0, b"written")
    loop.post(WRITE, loop.sge(0, 7), remote_addr=target + 200, rkey=rkey)
    good(loop.completions(1), 1)
    check(loop.at(4096 + 200, 8) == b"written\0", "data of write")
    print("write")

    loop.put(4096 + 300, b"read")
    loop.post(READ, loop.sge(50, 4), remote_addr=target + 300, rkey=rkey)
    good(loop.completions(1), 2)
    check(loop.at(50, 5) == b"read\0", "data of read")
    print("read")

    loop.put(4096 + 512, (41).to_bytes(8, "little"))
    loop.post(FETCH_ADD, loop.sge(64, 8), remote_addr=target + 512, rkey=rkey, compare_add=1)
    good(loop.completions(1), 4)
    check(loop.at(64, 8) == (41).to_bytes(8, "little"), "old value")
    check(loop.at(4096 + 512, 8) == (42).to_bytes(8, "little"), "new value")
    loop.post(
        CMP_SWP, loop.sge(64, 8), remote_addr=target + 512, rkey=rkey, compare_add=42, swap=7
    )
    good(loop.completions(1), 3)
    check(loop.at(4096 + 512, 8) == (7).to_bytes(8, "little"), "swapped value")
    print("atomics")

    mw = ctypes.cast(loop.verbs.ibv_alloc_mw(loop.pd, 1), POINTER(Mw))
    check(mw, "alloc_mw")
    before = mw.contents.rkey
    bind = MwBind(
        wr_id=5, send_flags=SIGNALED, mr=loop.mr, addr=target, length=64,
        mw_access_flags=REMOTE_WRITE,
    )
    # The window is bound on the side that is written to.
    check(loop.verbs.ibv_bind_mw(loop.qps[1], mw, byref(bind)) == 0, "bind_mw")
    good(loop.completions(1), 5)
    check(mw.contents.rkey != before, "new key")
    loop.put(0, b"window")
    loop.post(WRITE, loop.sge(0, 6), remote_addr=target + 8, rkey=mw.contents.rkey)
    good(loop.completions(1), 1)
    check(loop.at(4096 + 8, 6) == b"window", "data through the window")
    key = mw.contents.rkey
    bind.mr = None
    check(loop.verbs.ibv_bind_mw(loop.qps[1], mw, byref(bind)) == 22, "a range without a region")
    check(mw.contents.rkey == key, "the key stays after a failure")
    check(loop.verbs.ibv_dealloc_mw(mw) == 0, "dealloc_mw")
    print("memory window")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    verbs = Verbs(sys.argv[2] if len(sys.argv) > 2 else "libibverbs.so.1")
    if verbs.missing:
        print(f"no plain symbols: {' '.join(verbs.missing)}")
        return 77
    loop = Loop(verbs, sys.argv[1])
    run(loop)
    loop.close()
    print("done")
    return 0


if __name__ == "__main__":
    sys.exit(main())
