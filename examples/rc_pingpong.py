"""A ping-pong over a reliable connection: two processes send a message to and fro.

    python3 rc_pingpong.py GID_INDEX             the server
    python3 rc_pingpong.py GID_INDEX ADDRESS     the client

ctypes and nothing else: what C programs reach by inline functions (post_send, post_recv, poll_cq)
are plain symbols of this library. Either side may be rc_pingpong.c instead.
IBV_DRIVERS=urxe in the environment gives any machine a device in software.
"""

import ctypes
import os
import socket
import sys
import time
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint8, c_uint16, c_uint32, c_uint64
from ctypes import c_void_p

ROUNDS, SIZE = 1000, 4096
# ibv_qp_type, ibv_qp_state, ibv_mtu, ibv_access_flags, ibv_wr_opcode, ibv_wc_opcode
RC, INIT, RTR, RTS, MTU_1024, LOCAL_WRITE, SEND, WC_RECV = 2, 1, 2, 3, 3, 1, 2, 128
# ibv_qp_attr_mask
STATE, ACCESS, PKEY, PORT, AV, MTU = 1 << 0, 1 << 3, 1 << 4, 1 << 5, 1 << 7, 1 << 8
TIMEOUT, RETRY, RNR_RETRY, RQ_PSN, RD_ATOMIC = 1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13
MIN_RNR, SQ_PSN, DEST_RD_ATOMIC, DEST_QPN = 1 << 15, 1 << 16, 1 << 17, 1 << 20


def struct(name, *fields):
    """A C struct of the header infiniband/verbs.h."""
    return type(name, (ctypes.Structure,), {"_fields_": list(fields)})


Gid = c_uint8 * 16
Sge = struct("ibv_sge", ("addr", c_uint64), ("length", c_uint32), ("lkey", c_uint32))
RecvWr = struct("ibv_recv_wr", ("wr_id", c_uint64), ("next", c_void_p), ("sg_list", POINTER(Sge)),
                ("num_sge", c_int))
SendWr = struct("ibv_send_wr", ("wr_id", c_uint64), ("next", c_void_p), ("sg_list", POINTER(Sge)),
                ("num_sge", c_int), ("opcode", c_int), ("send_flags", c_uint32), ("imm", c_uint32),
                ("of_other_kinds", c_uint64 * 10))
Wc = struct("ibv_wc", ("wr_id", c_uint64), ("status", c_int), ("opcode", c_int),
            ("vendor_err", c_uint32), ("byte_len", c_uint32), ("imm", c_uint32),
            ("qp_num", c_uint32), ("src_qp", c_uint32), ("wc_flags", c_uint32),
            ("pkey_index", c_uint16), ("slid", c_uint16), ("sl", c_uint8), ("path_bits", c_uint8))
Cap = struct("ibv_qp_cap", ("max_send_wr", c_uint32), ("max_recv_wr", c_uint32),
             ("max_send_sge", c_uint32), ("max_recv_sge", c_uint32), ("max_inline", c_uint32))
QpInit = struct("ibv_qp_init_attr", ("qp_context", c_void_p), ("send_cq", c_void_p),
                ("recv_cq", c_void_p), ("srq", c_void_p), ("cap", Cap), ("qp_type", c_int),
                ("sq_sig_all", c_int))
Route = struct("ibv_global_route", ("dgid", Gid), ("flow_label", c_uint32),
               ("sgid_index", c_uint8), ("hop_limit", c_uint8), ("traffic_class", c_uint8))
Ah = struct("ibv_ah_attr", ("grh", Route), ("dlid", c_uint16), ("sl", c_uint8),
            ("src_path_bits", c_uint8), ("static_rate", c_uint8), ("is_global", c_uint8),
            ("port_num", c_uint8))
QpAttr = struct("ibv_qp_attr", ("qp_state", c_int), ("cur_qp_state", c_int), ("path_mtu", c_int),
                ("path_mig_state", c_int), ("qkey", c_uint32), ("rq_psn", c_uint32),
                ("sq_psn", c_uint32), ("dest_qp_num", c_uint32), ("access", c_uint32),
                ("cap", Cap), ("ah_attr", Ah), ("alt_ah_attr", Ah), ("pkey_index", c_uint16),
                ("alt_pkey_index", c_uint16), ("en_sqd_async_notify", c_uint8),
                ("sq_draining", c_uint8), ("max_rd_atomic", c_uint8),
                ("max_dest_rd_atomic", c_uint8), ("min_rnr_timer", c_uint8),
                ("port_num", c_uint8), ("timeout", c_uint8), ("retry_cnt", c_uint8),
                ("rnr_retry", c_uint8), ("alt_port_num", c_uint8), ("alt_timeout", c_uint8),
                ("rate_limit", c_uint32))
Mr = struct("ibv_mr", ("context", c_void_p), ("pd", c_void_p), ("addr", c_void_p),
            ("length", c_size_t), ("handle", c_uint32), ("lkey", c_uint32), ("rkey", c_uint32))
Port = struct("ibv_port_attr", ("of_no_use_here", c_uint32 * 9), ("lid", c_uint16),
              ("more", c_uint8 * 18))

verbs = ctypes.CDLL("libibverbs.so.1", use_errno=True)


def made(function, *arguments, result=c_void_p):
    """Calls a verb that makes an object, or returns NULL and sets errno."""
    verb = getattr(verbs, function)
    verb.restype = result
    value = verb(*arguments)
    if not value:
        raise OSError(ctypes.get_errno(), f"{function}: {os.strerror(ctypes.get_errno())}")
    return value


def zero(function, *arguments):
    """Calls a verb that returns the error number."""
    error = getattr(verbs, function)(*arguments)
    if error:
        raise OSError(error, f"{function}: {os.strerror(error)}")


def meet(host):
    """A TCP connection, over which the two tell each other their addresses."""
    if host:
        return socket.create_connection((host, 18555))
    with socket.create_server(("", 18555)) as listener:
        return listener.accept()[0]


def exchange(peer, qp_num, psn, lid, gid):
    """One line each way; what the other side said."""
    gid = bytes(gid).hex()
    peer.sendall(f"{qp_num:06x} {psn:06x} {lid:04x} {gid[:16]} {gid[16:]}\n".encode())
    line = peer.recv(53, socket.MSG_WAITALL).split()
    if len(line) != 5:
        raise ConnectionError("the other side has gone")
    gid = bytes.fromhex((line[3] + line[4]).decode())
    return int(line[0], 16), int(line[1], 16), int(line[2], 16), gid


def connect(qp, psn, gid_index, theirs):
    """INIT to RTR: it receives. RTR to RTS: it sends."""
    dest_qp_num, rq_psn, lid, gid = theirs
    attr = QpAttr(qp_state=RTR, path_mtu=MTU_1024, dest_qp_num=dest_qp_num, rq_psn=rq_psn,
                  max_dest_rd_atomic=1, min_rnr_timer=12)
    attr.ah_attr = Ah(dlid=lid, port_num=1, is_global=1)
    attr.ah_attr.grh = Route(dgid=Gid(*gid), sgid_index=gid_index, hop_limit=64)
    mask = STATE | AV | MTU | DEST_QPN | RQ_PSN | DEST_RD_ATOMIC | MIN_RNR
    zero("ibv_modify_qp", qp, byref(attr), mask)
    attr.qp_state, attr.sq_psn, attr.max_rd_atomic = RTS, psn, 1
    # 67 ms (4.096 us times two to the power of 14), seven times; 7 retries of RNR stand for ever.
    attr.timeout, attr.retry_cnt, attr.rnr_retry = 14, 7, 7
    mask = STATE | TIMEOUT | RETRY | RNR_RETRY | SQ_PSN | RD_ATOMIC
    zero("ibv_modify_qp", qp, byref(attr), mask)


def wait_for_message(cq, wc):
    """Polls until a message is there; completions of our own sends come in between."""
    while True:
        while not verbs.ibv_poll_cq(cq, 1, byref(wc)):
            pass
        if wc.status:
            raise RuntimeError(made("ibv_wc_status_str", wc.status, result=c_char_p).decode())
        if wc.opcode == WC_RECV:
            return


def main():
    gid_index = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    host = sys.argv[2] if len(sys.argv) > 2 else None

    devices = made("ibv_get_device_list", None, result=POINTER(c_void_p))
    if not devices[0]:
        sys.exit("no device")
    context = c_void_p(made("ibv_open_device", c_void_p(devices[0])))
    name = made("ibv_get_device_name", c_void_p(devices[0]), result=c_char_p).decode()
    verbs.ibv_free_device_list(devices)  # An open device stays valid.
    pd = c_void_p(made("ibv_alloc_pd", context))
    buffer = ctypes.create_string_buffer(2 * SIZE)  # What is sent, and what is received.
    mr = made("ibv_reg_mr", pd, buffer, c_size_t(2 * SIZE), LOCAL_WRITE, result=POINTER(Mr))
    cq = c_void_p(made("ibv_create_cq", context, 16, None, None, 0))
    cap = Cap(max_send_wr=4, max_recv_wr=4, max_send_sge=1, max_recv_sge=1)
    init = QpInit(send_cq=cq, recv_cq=cq, cap=cap, qp_type=RC, sq_sig_all=1)
    qp = c_void_p(made("ibv_create_qp", pd, byref(init)))
    qp_num = ctypes.cast(qp, POINTER(c_uint32))[13]  # The member qp_num of struct ibv_qp.

    address = ctypes.addressof(buffer)
    out, into = (Sge(at, SIZE, mr.contents.lkey) for at in (address, address + SIZE))
    send = SendWr(sg_list=ctypes.pointer(out), num_sge=1, opcode=SEND)
    recv = RecvWr(sg_list=ctypes.pointer(into), num_sge=1)
    bad = c_void_p()

    # RESET to INIT: receives may be posted. One has to be there before the other side sends.
    zero("ibv_modify_qp", qp, byref(QpAttr(qp_state=INIT, port_num=1)), STATE | PKEY | PORT | ACCESS)
    zero("ibv_post_recv", qp, byref(recv), byref(bad))
    port, gid, psn = Port(), Gid(), os.getpid() & 0xFFFFFF
    zero("ibv_query_port", context, 1, byref(port))
    zero("ibv_query_gid", context, 1, gid_index, byref(gid))
    peer = meet(host)
    connect(qp, psn, gid_index, exchange(peer, qp_num, psn, port.lid, gid))
    exchange(peer, qp_num, psn, port.lid, gid)  # Both are ready now.

    wc, start = Wc(), time.monotonic()
    for number in range(ROUNDS):
        ctypes.memset(address, number & 0xFF, SIZE)
        if host:  # Ping.
            zero("ibv_post_send", qp, byref(send), byref(bad))
        wait_for_message(cq, wc)
        if buffer.raw[SIZE:] != buffer.raw[:SIZE]:
            sys.exit("the data is not what was sent")
        zero("ibv_post_recv", qp, byref(recv), byref(bad))
        if not host:  # Pong.
            zero("ibv_post_send", qp, byref(send), byref(bad))
    each = (time.monotonic() - start) * 1e6 / ROUNDS
    print(f"{name}: {ROUNDS} round trips of {SIZE} bytes, {each:.2f} us each")

    exchange(peer, qp_num, psn, port.lid, gid)  # Nobody leaves while the other still waits.
    for function, thing in [("ibv_destroy_qp", qp), ("ibv_destroy_cq", cq), ("ibv_dereg_mr", mr),
                            ("ibv_dealloc_pd", pd), ("ibv_close_device", context)]:
        zero(function, thing)


main()
