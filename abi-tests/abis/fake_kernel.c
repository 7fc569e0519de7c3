/*
 * A kernel that accepts every command, for machines without one that has RDMA: takes the place of
 * the C library's ioctl, write and socket, puts into the transcript what is sent, and answers with
 * numbers that tell where they came from.
 */
#define _GNU_SOURCE
#include "transcript.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define BIT(n) (1u << (n))

/* What the attributes of a method are, by their numbers. */
static const struct method {
	uint16_t object, method;
	const char *name;
	uint32_t created, created_fd, fd, out, zero;
} methods[] = {
	{ UVERBS_OBJECT_DEVICE, 2, "query_port", .out = BIT(1) },
	{ UVERBS_OBJECT_DEVICE, 3, "get_context", .out = BIT(0) | BIT(1) },
	{ UVERBS_OBJECT_DEVICE, 4, "query_context", .out = BIT(0) | BIT(1) },
	{ UVERBS_OBJECT_DEVICE, 6, "query_gid_entry", .out = BIT(3) },
	{ UVERBS_OBJECT_DEVICE, 7, "query_port_speed", .out = BIT(1) },
	{ UVERBS_OBJECT_DEVICE, 8, "query_comp_cntr_caps", .out = BIT(0) | BIT(1) | BIT(2) },
	{ UVERBS_OBJECT_PD, 0, .name = "dealloc_pd" },
	{ UVERBS_OBJECT_CQ, 0, "create_cq", .created = BIT(0), .out = BIT(6),
	  .fd = BIT(3) | BIT(7) },
	{ UVERBS_OBJECT_CQ, 1, "destroy_cq", .zero = BIT(1) },
	{ UVERBS_OBJECT_QP, 0, "create_qp", .created = BIT(0), .out = BIT(13) | BIT(14),
	  .fd = BIT(12) },
	{ UVERBS_OBJECT_QP, 1, "destroy_qp", .zero = BIT(1) },
	{ UVERBS_OBJECT_QP, 2, .name = "attach_comp_cntr" },
	{ UVERBS_OBJECT_SRQ, 0, "create_srq", .created = BIT(0),
	  .out = BIT(11) | BIT(12) | BIT(13), .fd = BIT(10) },
	{ UVERBS_OBJECT_SRQ, 1, "destroy_srq", .zero = BIT(1) },
	{ UVERBS_OBJECT_AH, 0, .name = "destroy_ah" },
	{ UVERBS_OBJECT_MR, 0, "reg_dm_mr", .created = BIT(0), .out = BIT(6) | BIT(7) },
	{ UVERBS_OBJECT_MR, 1, .name = "dereg_mr" },
	{ UVERBS_OBJECT_MR, 2, .name = "advise_mr" },
	{ UVERBS_OBJECT_MR, 3, "query_mr", .out = BIT(1) | BIT(2) | BIT(3) },
	{ UVERBS_OBJECT_MR, 4, "reg_dmabuf_mr", .created = BIT(0), .out = BIT(7) | BIT(8) },
	{ UVERBS_OBJECT_MR, 5, "reg_mr", .created = BIT(0), .out = BIT(9) | BIT(10) },
	{ UVERBS_OBJECT_MW, 0, .name = "dealloc_mw" },
	{ UVERBS_OBJECT_FLOW, 0, .name = "destroy_flow" },
	{ UVERBS_OBJECT_XRCD, 0, .name = "close_xrcd" },
	{ UVERBS_OBJECT_RWQ_IND_TBL, 0, .name = "destroy_rwq_ind_table" },
	{ UVERBS_OBJECT_WQ, 0, "create_wq", .created = BIT(0),
	  .out = BIT(9) | BIT(10) | BIT(11), .fd = BIT(5) },
	{ UVERBS_OBJECT_WQ, 1, "destroy_wq", .zero = BIT(1) },
	{ UVERBS_OBJECT_FLOW_ACTION, 0, "create_flow_action", .created = BIT(0) },
	{ UVERBS_OBJECT_FLOW_ACTION, 1, .name = "destroy_flow_action" },
	{ UVERBS_OBJECT_FLOW_ACTION, 2, .name = "modify_flow_action" },
	{ UVERBS_OBJECT_DM, 0, "alloc_dm", .created = BIT(0) },
	{ UVERBS_OBJECT_DM, 1, .name = "free_dm" },
	{ UVERBS_OBJECT_COUNTERS, 0, "create_counters", .created = BIT(0) },
	{ UVERBS_OBJECT_COUNTERS, 1, .name = "destroy_counters" },
	{ UVERBS_OBJECT_COUNTERS, 2, "read_counters", .out = BIT(1) },
	{ UVERBS_OBJECT_ASYNC_EVENT, 0, "alloc_async_fd", .created_fd = BIT(0) },
	/* Newer than some installed headers of the kernel. */
	{ 17, 0, "alloc_dmah", .created = BIT(0) },
	{ 17, 1, .name = "free_dmah" },
	{ 18, 0, "export_dmabuf_fd", .created_fd = BIT(0) },
	{ 19, 0, "create_comp_cntr", .created = BIT(0) },
	{ 19, 1, .name = "destroy_comp_cntr" },
	{ 19, 2, .name = "modify_comp_cntr" },
	{ 19, 3, "read_comp_cntr", .out = BIT(2) },
};

/* Commands of the older kind, and which word of the answer is the handle of what they create. */
#define EXTENDED(name) (IB_USER_VERBS_EX_CMD_##name | IB_USER_VERBS_CMD_FLAG_EXTENDED)
static const struct command {
	uint32_t number;
	const char *name;
	int handle;
} commands[] = {
	{ IB_USER_VERBS_CMD_QUERY_DEVICE, "QUERY_DEVICE", -1 },
	{ EXTENDED(QUERY_DEVICE), "EX_QUERY_DEVICE", -1 },
	{ IB_USER_VERBS_CMD_ALLOC_PD, "ALLOC_PD", 0 },
	{ IB_USER_VERBS_CMD_CREATE_AH, "CREATE_AH", 0 },
	{ IB_USER_VERBS_CMD_REG_MR, "REG_MR", 0 },
	{ IB_USER_VERBS_CMD_REREG_MR, "REREG_MR", -1 },
	{ IB_USER_VERBS_CMD_ALLOC_MW, "ALLOC_MW", 0 },
	{ IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, "CREATE_COMP_CHANNEL", -1 },
	{ IB_USER_VERBS_CMD_RESIZE_CQ, "RESIZE_CQ", -1 },
	{ IB_USER_VERBS_CMD_POLL_CQ, "POLL_CQ", -1 },
	{ IB_USER_VERBS_CMD_REQ_NOTIFY_CQ, "REQ_NOTIFY_CQ", -1 },
	{ IB_USER_VERBS_CMD_QUERY_QP, "QUERY_QP", -1 },
	{ IB_USER_VERBS_CMD_MODIFY_QP, "MODIFY_QP", -1 },
	{ IB_USER_VERBS_CMD_POST_SEND, "POST_SEND", -1 },
	{ IB_USER_VERBS_CMD_POST_RECV, "POST_RECV", -1 },
	{ IB_USER_VERBS_CMD_ATTACH_MCAST, "ATTACH_MCAST", -1 },
	{ IB_USER_VERBS_CMD_DETACH_MCAST, "DETACH_MCAST", -1 },
	{ IB_USER_VERBS_CMD_MODIFY_SRQ, "MODIFY_SRQ", -1 },
	{ IB_USER_VERBS_CMD_QUERY_SRQ, "QUERY_SRQ", -1 },
	{ IB_USER_VERBS_CMD_POST_SRQ_RECV, "POST_SRQ_RECV", -1 },
	{ IB_USER_VERBS_CMD_OPEN_XRCD, "OPEN_XRCD", 0 },
	{ IB_USER_VERBS_CMD_OPEN_QP, "OPEN_QP", 0 },
	{ EXTENDED(MODIFY_QP), "EX_MODIFY_QP", -1 },
	{ EXTENDED(CREATE_FLOW), "EX_CREATE_FLOW", 1 },
	{ EXTENDED(MODIFY_WQ), "EX_MODIFY_WQ", -1 },
	{ EXTENDED(CREATE_RWQ_IND_TBL), "EX_CREATE_RWQ_IND_TBL", 2 },
	{ EXTENDED(MODIFY_CQ), "EX_MODIFY_CQ", -1 },
	/* These go through ioctl today. */
	{ IB_USER_VERBS_CMD_GET_CONTEXT, "GET_CONTEXT", -1 },
	{ IB_USER_VERBS_CMD_QUERY_PORT, "QUERY_PORT", -1 },
	{ IB_USER_VERBS_CMD_DEALLOC_PD, "DEALLOC_PD", -1 },
	{ IB_USER_VERBS_CMD_DESTROY_AH, "DESTROY_AH", -1 },
	{ IB_USER_VERBS_CMD_DEREG_MR, "DEREG_MR", -1 },
	{ IB_USER_VERBS_CMD_DEALLOC_MW, "DEALLOC_MW", -1 },
	{ IB_USER_VERBS_CMD_CREATE_CQ, "CREATE_CQ", 0 },
	{ EXTENDED(CREATE_CQ), "EX_CREATE_CQ", 0 },
	{ IB_USER_VERBS_CMD_DESTROY_CQ, "DESTROY_CQ", -1 },
	{ IB_USER_VERBS_CMD_CREATE_QP, "CREATE_QP", 0 },
	{ EXTENDED(CREATE_QP), "EX_CREATE_QP", 0 },
	{ IB_USER_VERBS_CMD_DESTROY_QP, "DESTROY_QP", -1 },
	{ IB_USER_VERBS_CMD_CREATE_SRQ, "CREATE_SRQ", 0 },
	{ IB_USER_VERBS_CMD_CREATE_XSRQ, "CREATE_XSRQ", 0 },
	{ IB_USER_VERBS_CMD_DESTROY_SRQ, "DESTROY_SRQ", -1 },
	{ IB_USER_VERBS_CMD_CLOSE_XRCD, "CLOSE_XRCD", -1 },
	{ EXTENDED(DESTROY_FLOW), "EX_DESTROY_FLOW", -1 },
	{ EXTENDED(CREATE_WQ), "EX_CREATE_WQ", 2 },
	{ EXTENDED(DESTROY_WQ), "EX_DESTROY_WQ", -1 },
	{ EXTENDED(DESTROY_RWQ_IND_TBL), "EX_DESTROY_RWQ_IND_TBL", -1 },
};

enum { UHW_IN = 4096, UHW_OUT = 4097 };

/* The line that is being put together. */
static char line[2048];
static size_t used;

__attribute__((format(printf, 1, 2))) static void add(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	used += vsnprintf(line + used, sizeof(line) - used, format, args);
	va_end(args);
	if (used >= sizeof(line))
		used = sizeof(line) - 1;
}

/* Adds eight or fewer bytes: a name if they are the address of something, else a number. */
static void add_number(uint64_t value)
{
	const char *name = value < 1 << 16 ? "?" : name_of((const void *)(uintptr_t)value);

	if (*name != '?')
		add("%s", name);
	else if (value >> 40 >= 0x55 && value >> 40 <= 0x7f)
		add("address");
	else
		add("%#llx", (unsigned long long)value);
}

/* Adds what a buffer holds. */
static void add_bytes(const uint8_t *bytes, size_t size)
{
	add("[");
	for (size_t i = 0; i < size; i += 8) {
		uint64_t value = 0;

		memcpy(&value, bytes + i, size - i < 8 ? size - i : 8);
		if (i)
			add(" ");
		add_number(value);
	}
	add("]");
}

static uint32_t new_handle(uint16_t object)
{
	/* For each release its own, so that its transcript does not depend on others. */
	static uint32_t last[100][64];

	return ++last[current_release][object % 64];
}

/* A file descriptor of nothing in particular. */
static int new_fd(void)
{
	return memfd_create("made by the fake kernel", MFD_CLOEXEC);
}

/* Fills the answer of `size` bytes: 32-bit words of their number from 1 on above `seed`. */
static void fill(void *answer, size_t size, uint32_t seed)
{
	for (size_t i = 0; i < size / 4; i++) {
		uint32_t word = seed << 8 | (i + 1);

		memcpy((char *)answer + 4 * i, &word, 4);
	}
}

static const struct command *command_of(uint32_t number)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (commands[i].number == number)
			return &commands[i];
	return NULL;
}

static void answer_command(uint32_t number, const struct command *command, uint32_t *words,
			   size_t size)
{
	fill(words, size, number & 0xff);
	if (command->handle >= 0 && size / 4 > (size_t)command->handle)
		words[command->handle] = new_handle(32 + number % 32);
	if (number == IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL || number == IB_USER_VERBS_CMD_GET_CONTEXT)
		words[0] = new_fd();
	/* How many events there were of what is destroyed. */
	if (strstr(command->name, "DESTROY_"))
		memset(words, 0, size);
	if (number == EXTENDED(CREATE_RWQ_IND_TBL) || number == EXTENDED(CREATE_WQ))
		words[1] = size;
	if (number == EXTENDED(QUERY_DEVICE))
		((struct ib_uverbs_ex_query_device_resp *)words)->response_length = size;
	if (number == IB_USER_VERBS_CMD_POLL_CQ)
		words[0] = 1;
	if (number == IB_USER_VERBS_CMD_POST_SEND || number == IB_USER_VERBS_CMD_POST_RECV ||
	    number == IB_USER_VERBS_CMD_POST_SRQ_RECV)
		words[0] = 0;
}

/* A command of the older kind in an ioctl. */
static int invoke_write(struct ib_uverbs_ioctl_hdr *hdr)
{
	struct ib_uverbs_attr *in = NULL, *out = NULL, *more_in = NULL, *more_out = NULL;
	const struct command *command;
	uint32_t number = 0;

	for (int i = 0; i < hdr->num_attrs; i++) {
		struct ib_uverbs_attr *attr = &hdr->attrs[i];

		switch (attr->attr_id) {
		case 0: in = attr; break;
		case 1: out = attr; break;
		case 2: number = attr->data; break;
		case UHW_IN: more_in = attr; break;
		case UHW_OUT: more_out = attr; break;
		}
	}
	/* The question whether such commands are possible, which has to be refused in this way. */
	if (number == 1 && !out) {
		errno = ENOSPC;
		return -1;
	}
	command = command_of(number);
	add("    kernel %s", command ? command->name : "?");
	if (in) {
		add(" ");
		add_bytes(in->len > 8 ? (void *)(uintptr_t)in->data : (void *)&in->data, in->len);
	}
	if (more_in) {
		add(" from provider ");
		add_bytes(more_in->len > 8 ? (void *)(uintptr_t)more_in->data :
					     (void *)&more_in->data, more_in->len);
	}
	if (out) {
		add(" answer %u", out->len);
		if (command)
			answer_command(number, command, (void *)(uintptr_t)out->data, out->len);
	}
	if (more_out) {
		add(" to provider %u", more_out->len);
		memset((void *)(uintptr_t)more_out->data, 0x77, more_out->len);
	}
	if (!command)
		add(" number %u", number);
	return 0;
}

static void attribute(struct ib_uverbs_ioctl_hdr *hdr, const struct method *method,
		      struct ib_uverbs_attr *attr)
{
	uint32_t bit = attr->attr_id < 32 ? BIT(attr->attr_id) : 0;
	void *buffer = (void *)(uintptr_t)attr->data;

	add(" %u:", attr->attr_id);
	if (method->created & bit) {
		attr->data = new_handle(hdr->object_id);
		add("new %llu", (unsigned long long)attr->data);
	} else if (method->created_fd & bit) {
		attr->data_s64 = new_fd();
		add("new fd");
	} else if (method->fd & bit) {
		add("fd");
	} else if (attr->attr_id == UHW_OUT) {
		memset(buffer, 0x77, attr->len);
		add("answer %u", attr->len);
	} else if (method->out & bit) {
		fill(buffer, attr->len, attr->attr_id);
		add("answer %u", attr->len);
	} else if (method->zero & bit) {
		memset(buffer, 0, attr->len);
		add("answer %u", attr->len);
	} else if (attr->len > 8) {
		add_bytes(buffer, attr->len);
	} else {
		add_number(attr->data);
	}
	if (!(attr->flags & UVERBS_ATTR_F_MANDATORY))
		add("(optional)");
}

/* The kernel that refuses commands has contexts and channels nevertheless. */
static bool is_refused(const struct ib_uverbs_ioctl_hdr *hdr)
{
	if (hdr->object_id)
		return hdr->object_id != UVERBS_OBJECT_ASYNC_EVENT;
	for (int i = 0; !hdr->method_id && i < hdr->num_attrs; i++)
		if (hdr->attrs[i].attr_id == 2)
			return hdr->attrs[i].data != IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL;
	return hdr->method_id != 3 && hdr->method_id != 4;
}

static int verbs_ioctl(struct ib_uverbs_ioctl_hdr *hdr)
{
	int ret = 0;

	if (kernel_fails) {
		errno = kernel_fails;
		return -1;
	}
	if (may_refuse && is_refused(hdr)) {
		errno = ENOSPC;
		return -1;
	}
	used = 0;
	if (!hdr->object_id && !hdr->method_id) {
		ret = invoke_write(hdr);
	} else {
		const struct method *method = NULL;

		for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++)
			if (methods[i].object == hdr->object_id &&
			    methods[i].method == hdr->method_id)
				method = &methods[i];
		if (!method) {
			say("    kernel does not know %u.%u", hdr->object_id, hdr->method_id);
			errno = EPROTONOSUPPORT;
			return -1;
		}
		add("    kernel %s", method->name);
		for (int i = 0; i < hdr->num_attrs; i++)
			attribute(hdr, method, &hdr->attrs[i]);
	}
	if (hdr->length != sizeof(*hdr) + hdr->num_attrs * sizeof(*hdr->attrs))
		add(" LENGTH %u", hdr->length);
	if (used)
		say("%s", line);
	return ret;
}

int ioctl(int fd, unsigned long request, ...)
{
	/* What struct dma_heap_allocation_data is. */
	struct {
		uint64_t length;
		uint32_t fd, fd_flags;
		uint64_t heap_flags;
	} *heap;
	va_list args;
	void *argument;

	va_start(args, request);
	argument = va_arg(args, void *);
	va_end(args);
	if (fake_kernel && request == RDMA_VERBS_IOCTL && !old_kernel)
		return verbs_ioctl(argument);
	if (fake_kernel && request == RDMA_VERBS_IOCTL) {
		errno = ENOTTY;
		return -1;
	}
	if (fake_kernel && request == 0xc0184800UL) {
		heap = argument;
		heap->fd = new_fd();
		say("    kernel dma_heap_alloc %llu", (unsigned long long)heap->length);
		return ftruncate(heap->fd, heap->length);
	}
	return syscall(SYS_ioctl, fd, request, argument);
}

/* A command of the older kind as it is written to the device file; the answer, by its lengths. */
static ssize_t command_written(const void *bytes, size_t size)
{
	const struct ib_uverbs_cmd_hdr *hdr = bytes;
	const struct ib_uverbs_ex_cmd_hdr *more = (const void *)(hdr + 1);
	const struct command *command = command_of(hdr->command);
	bool extended = hdr->command & IB_USER_VERBS_CMD_FLAG_EXTENDED;
	size_t length = hdr->in_words * 4, room = hdr->out_words * 4;
	uint64_t answer = 0;

	if (!command) {
		say("CHECK: unknown command %#x", hdr->command);
		errno = EINVAL;
		return -1;
	}
	if (extended) {
		length = sizeof(*hdr) + sizeof(*more) +
			 8 * (hdr->in_words + more->provider_in_words);
		room = 8 * (hdr->out_words + more->provider_out_words);
		answer = more->response;
	} else if (room) {
		memcpy(&answer, hdr + 1, sizeof(answer));
	}
	say("    kernel %s of %zu bytes, answer %zu", command->name, length, room);
	if (length != size || !answer != !room)
		say("CHECK: %s of %zu bytes, says %zu and %zu for the answer", command->name, size,
		    length, room);
	if (room)
		answer_command(hdr->command, command, (void *)(uintptr_t)answer, room);
	return size;
}

ssize_t write(int fd, const void *bytes, size_t size)
{
	struct stat file;

	/* The device files are /dev/null, to which nothing else writes. */
	if (old_kernel && !fstat(fd, &file) && S_ISCHR(file.st_mode) &&
	    file.st_rdev == makedev(1, 3) && size >= sizeof(struct ib_uverbs_cmd_hdr))
		return command_written(bytes, size);
	return syscall(SYS_write, fd, bytes, size);
}

/* Without netlink, devices are looked for in sysfs, where a test can put one. */
int socket(int domain, int type, int protocol)
{
	if (fake_kernel && domain == AF_NETLINK && protocol == NETLINK_RDMA) {
		errno = EPROTONOSUPPORT;
		return -1;
	}
	return syscall(SYS_socket, domain, type, protocol);
}

/* The heap of shared buffers is not on every machine. */
static int heap_or(const char *path, int flags, mode_t mode)
{
	if (fake_kernel && !strcmp(path, "/dev/dma_heap/system_cc_shared"))
		return new_fd();
	return syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
	va_end(args);
	return heap_or(path, flags, mode);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));
