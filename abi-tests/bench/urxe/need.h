/* Ends the program when something does not hold. */
#ifndef BENCH_NEED_H
#define BENCH_NEED_H

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NEED(expression)                                                                           \
	do {                                                                                       \
		if (!(expression)) {                                                               \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #expression,        \
				strerror(errno));                                                  \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

#endif
