/*
 * Helpers of the tests of the device inside the library: rows of a table that say what a call or a
 * request must give, and which line the log must have got (VERBS_LOG_LEVEL=2, VERBS_LOG_FILE).
 *
 * A row prints a line: its title, a tab, and "ok" or what was wrong.
 */
#ifndef ABI_TESTS_URXE_ERRORS_H
#define ABI_TESTS_URXE_ERRORS_H

#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <infiniband/verbs.h>

/* What has to work before a row can be tried. */
#define NEED(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition,         \
				strerror(errno));                                                  \
			exit(3);                                                                   \
		}                                                                                  \
	} while (0)

static inline void report(const char *title, const char *wrong)
{
	printf("%s\t%s\n", title, wrong && *wrong ? wrong : "ok");
	fflush(stdout);
}

/* The log, and how far it has been read. */
static int log_fd = -1;
static off_t log_read;

static inline void open_log(void)
{
	const char *path = getenv("VERBS_LOG_FILE");

	NEED(path);
	log_fd = open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0600);
	NEED(log_fd >= 0);
	log_read = lseek(log_fd, 0, SEEK_END);
}

/* All that the log has got since the last call. */
static inline const char *new_lines(void)
{
	static char text[1 << 16];
	ssize_t got = pread(log_fd, text, sizeof(text) - 1, log_read);

	if (got < 0)
		got = 0;
	log_read += got;
	text[got] = 0;
	return text;
}

/* Whether a line is like a pattern: # is a number, decimal or with 0x, and * anything. */
static inline bool matches(const char *pattern, const char *line)
{
	for (; *pattern; pattern++) {
		if (*pattern == '*') {
			for (;; line++) {
				if (matches(pattern + 1, line))
					return true;
				if (!*line || *line == '\n')
					return false;
			}
		}
		if (*pattern == '#') {
			if (!isdigit((unsigned char)*line))
				return false;
			if (line[0] == '0' && line[1] == 'x')
				for (line += 2; isxdigit((unsigned char)*line); line++)
					;
			else
				for (; isdigit((unsigned char)*line); line++)
					;
			continue;
		}
		if (*pattern != *line++)
			return false;
	}
	return !*line || *line == '\n';
}

/* Whether the log has got a line like the pattern, behind what each line begins with. */
static inline bool log_has(const char *text, const char *pattern)
{
	static const char begin[] = "libibverbs: ";

	for (const char *line = text; line && *line;) {
		if (!strncmp(line, begin, sizeof(begin) - 1) &&
		    matches(pattern, line + sizeof(begin) - 1))
			return true;
		line = strchr(line, '\n');
		if (line)
			line++;
	}
	return false;
}

/* Adds to what is wrong with a row. */
__attribute__((format(printf, 2, 3))) static inline void add(char *wrong, const char *format, ...)
{
	size_t length = strlen(wrong);
	va_list args;

	va_start(args, format);
	vsnprintf(wrong + length, 1024 - length, format, args);
	va_end(args);
}

static inline void check_log(char *wrong, const char *pattern)
{
	const char *text = new_lines();

	if (pattern && !log_has(text, pattern)) {
		char shown[400];

		snprintf(shown, sizeof(shown), "%.399s", text);
		for (char *at = shown; *at; at++)
			if (*at == '\n' || *at == '\t')
				*at = '|';
		add(wrong, "no line \"%s\" but \"%s\"; ", pattern, shown);
	}
}

static inline void refused(const char *title, bool is_refused, int error, int wanted,
			   const char *pattern)
{
	char wrong[1024] = "";

	if (!is_refused)
		add(wrong, "not refused; ");
	else if (error != wanted)
		add(wrong, "%s, not %s; ", strerrorname_np(error), strerrorname_np(wanted));
	check_log(wrong, pattern);
	report(title, wrong);
}

/* A call that returns NULL and sets errno. */
#define REFUSES_POINTER(title, wanted, pattern, call)                                              \
	do {                                                                                       \
		new_lines();                                                                       \
		errno = 0;                                                                         \
		void *returned_ = (void *)(call);                                                  \
		refused(title, !returned_, errno, wanted, pattern);                                \
	} while (0)

/* A call that returns an error number, that number negated, or -1 and errno. */
#define REFUSES(title, wanted, pattern, call)                                                      \
	do {                                                                                       \
		new_lines();                                                                       \
		errno = 0;                                                                         \
		int returned_ = (call);                                                            \
		int error_ = returned_ == -1 ? errno : abs(returned_);                             \
		refused(title, returned_ != 0, error_, wanted, pattern);                           \
	} while (0)

/* A call that returns something negative and sets errno. */
#define REFUSES_NEGATIVE(title, wanted, pattern, call)                                             \
	do {                                                                                       \
		new_lines();                                                                       \
		errno = 0;                                                                         \
		bool refused_ = (call) < 0;                                                        \
		refused(title, refused_, errno, wanted, pattern);                                  \
	} while (0)

static inline double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec * 1e-9;
}

/* Waits up to ten seconds for a completion. */
static inline bool wait_for(struct ibv_cq *cq, struct ibv_wc *wc)
{
	for (double end = seconds() + 10; seconds() < end; usleep(50))
		if (ibv_poll_cq(cq, 1, wc) == 1)
			return true;
	return false;
}

static inline void check_completion(char *wrong, const char *side, struct ibv_cq *cq,
				    uint64_t wr_id, enum ibv_wc_status status, unsigned vendor)
{
	struct ibv_wc wc;

	if (!wait_for(cq, &wc)) {
		add(wrong, "%s: no completion; ", side);
		return;
	}
	if (wc.status != status)
		add(wrong, "%s: %s, not %s; ", side, ibv_wc_status_str(wc.status),
		    ibv_wc_status_str(status));
	if (wc.wr_id != wr_id)
		add(wrong, "%s: wr_id %llx, not %llx; ", side, (unsigned long long)wc.wr_id,
		    (unsigned long long)wr_id);
	if (status != IBV_WC_SUCCESS && wc.vendor_err != vendor)
		add(wrong, "%s: vendor_err %u, not %u; ", side, wc.vendor_err, vendor);
}

/* Waits for an asynchronous event; false if none comes. */
static inline bool next_event(struct ibv_context *context, int milliseconds,
			      struct ibv_async_event *event)
{
	struct pollfd entry = { .fd = context->async_fd, .events = POLLIN };

	if (poll(&entry, 1, milliseconds) != 1 || ibv_get_async_event(context, event))
		return false;
	ibv_ack_async_event(event);
	return true;
}

static inline void check_event(char *wrong, struct ibv_context *context,
			       enum ibv_event_type wanted, void *element)
{
	struct ibv_async_event event;

	if (!next_event(context, 5000, &event)) {
		add(wrong, "no event \"%s\"; ", ibv_event_type_str(wanted));
		return;
	}
	if (event.event_type != wanted)
		add(wrong, "event \"%s\", not \"%s\"; ", ibv_event_type_str(event.event_type),
		    ibv_event_type_str(wanted));
	if (element && event.element.qp != element)
		add(wrong, "\"%s\" is of another object; ", ibv_event_type_str(wanted));
}

static inline void check_no_event(char *wrong, struct ibv_context *context)
{
	struct ibv_async_event event;

	if (next_event(context, 0, &event))
		add(wrong, "event \"%s\"; ", ibv_event_type_str(event.event_type));
}

#define ALL_ACCESS                                                                                 \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |               \
	 IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND)

/* A QP, and what its peer needs to know of it. */
struct end {
	union ibv_gid gid;
	uint32_t qp_num, rkey;
	uint64_t address;
};

/* How a QP is connected; zero members have a good value. */
struct settings {
	unsigned access;
	bool no_access, no_reads, no_reads_of_peer;
	unsigned timeout, retry_cnt, rnr_retry;
};

static inline struct ibv_context *open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context;

	NEED(list && list[0]);
	context = ibv_open_device(list[0]);
	NEED(context);
	ibv_free_device_list(list);
	return context;
}

/* The GID from an IPv4 address if there is one. */
static inline int gid_of(struct ibv_context *context, union ibv_gid *gid)
{
	static const union ibv_gid none;

	for (int index = 1; index >= 0; index--)
		if (!ibv_query_gid(context, 1, index, gid) && memcmp(gid, &none, sizeof(none)))
			return index;
	NEED(!"a GID");
	return -1;
}

static inline struct ibv_ah_attr address_of(struct ibv_context *context, union ibv_gid gid)
{
	union ibv_gid own;

	return (struct ibv_ah_attr){
		.is_global = 1,
		.port_num = 1,
		.grh = { .dgid = gid, .sgid_index = gid_of(context, &own), .hop_limit = 1 },
	};
}

static inline int to_init(struct ibv_qp *qp, const struct settings *settings)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qkey = 0x11111111,
		.qp_access_flags = settings->no_access ? 0
				   : settings->access  ? settings->access
						       : ALL_ACCESS & ~IBV_ACCESS_MW_BIND,
	};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;

	return ibv_modify_qp(qp, &attr,
			     mask | (qp->qp_type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS));
}

static inline int to_rtr(struct ibv_qp *qp, const struct end *peer,
			 const struct settings *settings)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.max_dest_rd_atomic = settings->no_reads_of_peer ? 0 : 1,
		.min_rnr_timer = 1,
	};
	int mask = IBV_QP_STATE;

	if (qp->qp_type != IBV_QPT_UD) {
		attr.dest_qp_num = peer->qp_num;
		attr.ah_attr = address_of(qp->context, peer->gid);
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	}
	if (qp->qp_type != IBV_QPT_UD && qp->qp_type != IBV_QPT_UC) {
		if (qp->qp_type != IBV_QPT_XRC_SEND)
			mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	}
	return ibv_modify_qp(qp, &attr, mask);
}

static inline int to_rts(struct ibv_qp *qp, const struct settings *settings)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.timeout = settings->timeout ? settings->timeout : 8,
		.retry_cnt = settings->retry_cnt ? settings->retry_cnt : 1,
		.rnr_retry = settings->rnr_retry ? settings->rnr_retry : 1,
		.max_rd_atomic = settings->no_reads ? 0 : 1,
	};
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;

	if (qp->qp_type == IBV_QPT_RC || qp->qp_type == IBV_QPT_XRC_SEND)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	else if (qp->qp_type == IBV_QPT_XRC_RECV)
		mask |= IBV_QP_TIMEOUT;
	return ibv_modify_qp(qp, &attr, mask);
}

static inline void connect_to(struct ibv_qp *qp, const struct end *peer, struct settings settings)
{
	NEED(!to_init(qp, &settings));
	NEED(!to_rtr(qp, peer, &settings));
	NEED(!to_rts(qp, &settings));
}

#endif
