/*
 * Counts the system calls of a program and all that it starts, between the marks of count.h.
 *
 * usage: calls PROGRAM ARGUMENT...
 *
 * Prints a line "calls SIDE PROCESS_VM BYTES OTHERS" for each side, 0 and 1: the calls of
 * process_vm_readv(2) and process_vm_writev(2), the bytes that they moved, and all other calls; with
 * those of all threads of the process. What the other calls are is said on standard error.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include "count.h"
#include "need.h"

enum { THREADS = 64, NUMBERS = 1024 };

static struct thread {
	pid_t id, process;
	bool inside;
	/* The side to which the call under way counts, or -1. */
	int counts_for;
	long number;
} threads[THREADS];

static struct side {
	/* The process between the marks, or 0. */
	pid_t process;
	long calls[NUMBERS], process_vm, bytes;
} sides[2];

static pid_t process_of(pid_t thread)
{
	char path[64], line[128];
	int process = thread;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", thread);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Tgid: %d", &process) == 1)
			break;
	if (file)
		fclose(file);
	return process;
}

static struct thread *thread_of(pid_t id)
{
	for (struct thread *at = threads; at < threads + THREADS; at++) {
		if (at->id == id)
			return at;
		if (!at->id) {
			*at = (struct thread){ .id = id, .process = process_of(id),
					       .counts_for = -1 };
			return at;
		}
	}
	NEED(!"too many threads");
	return NULL;
}

static void enter(struct thread *thread)
{
	struct user_regs_struct regs;

	NEED(!ptrace(PTRACE_GETREGS, thread->id, NULL, &regs));
	thread->counts_for = -1;
	if (regs.orig_rax == SYS_getpriority && (uint32_t)regs.rdi == MARK_BEGIN) {
		sides[regs.rsi & 1].process = thread->process;
		return;
	}
	if (regs.orig_rax == SYS_getpriority && (uint32_t)regs.rdi == MARK_END) {
		sides[regs.rsi & 1].process = 0;
		return;
	}
	for (int i = 0; i < 2; i++) {
		if (sides[i].process != thread->process)
			continue;
		thread->counts_for = i;
		thread->number = regs.orig_rax;
		if (regs.orig_rax == SYS_process_vm_writev || regs.orig_rax == SYS_process_vm_readv)
			sides[i].process_vm++;
		else if (regs.orig_rax < NUMBERS)
			sides[i].calls[regs.orig_rax]++;
	}
}

static void leave(struct thread *thread)
{
	struct user_regs_struct regs;

	if (thread->counts_for < 0 || (thread->number != SYS_process_vm_writev &&
				       thread->number != SYS_process_vm_readv))
		return;
	NEED(!ptrace(PTRACE_GETREGS, thread->id, NULL, &regs));
	if ((long)regs.rax > 0)
		sides[thread->counts_for].bytes += regs.rax;
}

int main(int argc, char **argv)
{
	int status, result = 1;
	pid_t child;

	if (argc < 2)
		return 2;
	child = fork();
	NEED(child >= 0);
	if (!child) {
		NEED(!ptrace(PTRACE_TRACEME, 0, NULL, NULL));
		raise(SIGSTOP);
		execv(argv[1], argv + 1);
		NEED(!"exec");
	}
	NEED(waitpid(child, &status, 0) == child);
	NEED(!ptrace(PTRACE_SETOPTIONS, child, NULL,
		     PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACEFORK |
			     PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE));
	ptrace(PTRACE_SYSCALL, child, NULL, NULL);
	for (;;) {
		pid_t id = waitpid(-1, &status, __WALL);
		int signal = 0;

		if (id < 0)
			break;
		struct thread *thread = thread_of(id);

		if (WIFEXITED(status) || WIFSIGNALED(status)) {
			/* Its number may come again. */
			thread->id = -1;
			if (id == child)
				result = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
			continue;
		}
		if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
			thread->inside = !thread->inside;
			if (thread->inside)
				enter(thread);
			else
				leave(thread);
		} else if (WSTOPSIG(status) != SIGSTOP && status >> 16 == 0) {
			signal = WSTOPSIG(status);
			if (signal == SIGTRAP)
				signal = 0;
		}
		ptrace(PTRACE_SYSCALL, id, NULL, (void *)(long)signal);
	}
	for (int i = 0; i < 2; i++) {
		long others = 0;

		for (int number = 0; number < NUMBERS; number++) {
			others += sides[i].calls[number];
			if (sides[i].calls[number])
				fprintf(stderr, "side %d: system call %d: %ld\n", i, number,
					sides[i].calls[number]);
		}
		printf("calls\t%d\t%ld\t%ld\t%ld\n", i, sides[i].process_vm, sides[i].bytes, others);
	}
	return result;
}
