/*
 * Looks up names with their versions in the loaded library, as NCCL does, and checks that each
 * default version is what a look-up without a version gives.
 *
 * usage: dlvsym [LIBRARY]
 */
#include "common.h"
#include <dlfcn.h>
#include "dlvsym_names.h"

static void *library;

static void wanted(const char *version, const char *const *names)
{
	section(version);
	for (; *names; names++)
		printf("%s: %s\n", *names, dlvsym(library, *names, version) ? "there" : "missing");
}

int main(int argc, char **argv)
{
	static const char *const base[] = {
		"ibv_get_device_list", "ibv_free_device_list", "ibv_get_device_name",
		"ibv_open_device", "ibv_close_device", "ibv_get_async_event",
		"ibv_ack_async_event", "ibv_query_device", "ibv_query_port", "ibv_query_gid",
		"ibv_query_qp", "ibv_alloc_pd", "ibv_dealloc_pd", "ibv_reg_mr", "ibv_dereg_mr",
		"ibv_create_cq", "ibv_destroy_cq", "ibv_create_qp", "ibv_modify_qp",
		"ibv_destroy_qp", "ibv_fork_init", "ibv_event_type_str", "ibv_reg_mr_iova2",
		"ibv_reg_dmabuf_mr", "ibv_query_ece", "ibv_set_ece", "ibv_query_port_speed",
		"ibv_get_pkey_index", "ibv_import_device", "nothing", NULL,
	};
	static const char *const versions[] = {
		"IBVERBS_1.0", "IBVERBS_1.1", "IBVERBS_1.2", "IBVERBS_1.5", "IBVERBS_1.6",
		"IBVERBS_1.8", "IBVERBS_1.10", "IBVERBS_1.12", "IBVERBS_1.16", "IBVERBS_1.19",
		"IBVERBS_PRIVATE_65", "IBVERBS_PRIVATE_66",
	};
	size_t missing = 0;

	start();
	library = NEED(dlopen(argc > 1 ? argv[1] : "libibverbs.so.1", RTLD_NOW));
	for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++)
		wanted(versions[i], base);
	section("every name");
	for (size_t i = 0; i < sizeof(exported) / sizeof(*exported); i++) {
		void *at = dlvsym(library, exported[i].name, exported[i].version);
		void *plain = dlsym(library, exported[i].name);

		if (!at) {
			printf("missing: %s %s\n", exported[i].name, exported[i].version);
			missing++;
		}
		if (exported[i].is_default)
			CHECK(at == plain);
		else if (plain)
			CHECK(at != plain);
	}
	printf("%zu names, %zu missing\n", sizeof(exported) / sizeof(*exported), missing);
	CHECK(dlsym(library, "verbs_allow_disassociate_destroy") &&
	      !*(char *)dlsym(library, "verbs_allow_disassociate_destroy"));
	return finish();
}
