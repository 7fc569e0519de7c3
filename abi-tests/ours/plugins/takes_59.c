/* A plugin for private ABI 59 that calls a function which came with release 62. */
#include "takes.h"

int ibv_cmd_query_port_speed(struct ibv_context *context, uint32_t port, uint64_t *speed);

int use(struct ibv_context *context, uint64_t *speed)
{
	return ibv_cmd_query_port_speed(context, 1, speed);
}

TAKES(59)
