/* Every string and rate function for every value, and many that are none. Needs no device. */
#include "common.h"

/* Exported, but its declaration is not in every release's header. */
const char *ibv_wr_opcode_str(enum ibv_wr_opcode opcode);

static void show(int value, const char *text)
{
	printf("%d %s\n", value, text ? text : "NULL");
}

#define EACH(function, type)                                                                       \
	do {                                                                                       \
		section(#function);                                                                \
		for (int i = -3; i < 40; i++)                                                      \
			show(i, function((type)i));                                                \
		show(INT32_MIN, function((type)INT32_MIN));                                        \
		show(INT32_MAX, function((type)INT32_MAX));                                        \
		show(255, function((type)255));                                                    \
		show(256, function((type)256));                                                    \
	} while (0)

int main(void)
{
	start();
	EACH(ibv_node_type_str, enum ibv_node_type);
	EACH(ibv_port_state_str, enum ibv_port_state);
	EACH(ibv_event_type_str, enum ibv_event_type);
	EACH(ibv_wc_status_str, enum ibv_wc_status);
	EACH(ibv_wr_opcode_str, enum ibv_wr_opcode);
	section("rates");
	for (int i = -5; i < 300; i++)
		printf("%d: mult %d mbps %d\n", i, ibv_rate_to_mult((enum ibv_rate)i),
		       ibv_rate_to_mbps((enum ibv_rate)i));
	section("from mult");
	for (int i = -5; i < 2000; i++)
		if (mult_to_ibv_rate(i))
			printf("%d: %d\n", i, mult_to_ibv_rate(i));
	section("from mbps");
	for (int i = -5; i < 2000000; i++)
		if (mbps_to_ibv_rate(i))
			printf("%d: %d\n", i, mbps_to_ibv_rate(i));
	printf("%d %d %d %d\n", mult_to_ibv_rate(INT32_MIN), mult_to_ibv_rate(INT32_MAX),
	       mbps_to_ibv_rate(INT32_MIN), mbps_to_ibv_rate(INT32_MAX));
	return finish();
}
