/* What the fork programs share: memory flags as the kernel shows them, and no RDMA netlink. */
#ifndef ABI_TESTS_FORK_H
#define ABI_TESTS_FORK_H

#include "common.h"
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* Exported, but declared in no installed header. */
int ibv_dontfork_range(void *base, size_t size);
int ibv_dofork_range(void *base, size_t size);

enum { PAGE = 4096 };

/*
 * For each of `pages` pages of `size` bytes from `from` on, 'D' if children do not get it (flag "dc"
 * in smaps), '.' if they do, '?' if it is not mapped.
 */
static inline void page_flags(const char *from, int pages, size_t size, char *flags)
{
	FILE *smaps = NEED(fopen("/proc/self/smaps", "re"));
	uintptr_t first, behind, begin = 0, end = 0;
	char line[512];

	memset(flags, '?', pages);
	flags[pages] = 0;
	while (fgets(line, sizeof(line), smaps)) {
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &first, &behind) == 2) {
			begin = first;
			end = behind;
		}
		if (strncmp(line, "VmFlags:", 8))
			continue;
		for (int i = 0; i < pages; i++) {
			uintptr_t at = (uintptr_t)from + i * size;

			if (begin <= at && at < end)
				flags[i] = strstr(line, " dc") ? 'D' : '.';
		}
	}
	fclose(smaps);
}

static inline void show_pages(const char *what, const char *from, int pages, size_t size)
{
	char flags[64];

	page_flags(from, pages, size, flags);
	printf("%-34s %s\n", what, flags);
}

/*
 * From now on this process cannot open a netlink socket of the RDMA family, as on a kernel that
 * has none, so that the library cannot learn that the kernel copies registered pages on fork.
 */
static inline void forbid_rdma_netlink(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 5),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NETLINK_RDMA, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPROTONOSUPPORT),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = sizeof(filter) / sizeof(*filter), .filter = filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("seccomp");
		exit(3);
	}
}

static inline const char *fork_status(void)
{
	static const char *const name[] = { "disabled", "enabled", "unneeded" };
	unsigned status = ibv_is_fork_initialized();

	return status < 3 ? name[status] : "?";
}

/* What a child finds at `address`: the byte, or that it may not look. */
static inline void show_child(const char *what, const char *address)
{
	pid_t child;
	int status = 0;

	fflush(stdout);
	child = fork();
	if (!child) {
		prctl(PR_SET_DUMPABLE, 0);
		_exit(*(volatile const unsigned char *)address);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	if (WIFSIGNALED(status))
		printf("%s: child dies of signal %d\n", what, WTERMSIG(status));
	else
		printf("%s: child reads %d\n", what, WEXITSTATUS(status));
}

#endif
