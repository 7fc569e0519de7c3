/*
 * Looks up names with their versions in the loaded library, as NCCL does, and checks that each
 * default version is what a look-up without a version gives.
 *
 * usage: dlvsym EXPORTS; the list has a line NAME@VERSION or, for a default version, NAME@@VERSION.
 */
#include "common.h"
#include <dlfcn.h>

static void *library;

static void wanted(const char *version, const char *const *names)
{
	section(version);
	for (; *names; names++)
		printf("%s: %s\n", *names, dlvsym(library, *names, version) ? "there" : "missing");
}

/*
 * The node of the inline functions, and the private nodes of other releases: abis/ has plugins that
 * call those.
 */
static bool is_ours_alone(const char *version)
{
	return !strcmp(version, "IBVERBS_RS_1.0") ||
	       (!strncmp(version, "IBVERBS_PRIVATE_", 16) && strcmp(version + 16, "65"));
}

static void every_name(const char *path)
{
	FILE *list = NEED(fopen(path, "re"));
	int names = 0, missing = 0;
	char line[256];

	section("every name");
	while (fgets(line, sizeof(line), list)) {
		char name[128], at[3], version[64];
		void *exact, *plain;

		if (sscanf(line, "%127[^@#]%2[@]%63s", name, at, version) != 3 ||
		    is_ours_alone(version))
			continue;
		exact = dlvsym(library, name, version);
		plain = dlsym(library, name);
		names++;
		if (!exact) {
			printf("missing: %s %s\n", name, version);
			missing++;
		}
		if (!strcmp(at, "@@"))
			CHECK(exact == plain);
		else if (plain)
			CHECK(exact != plain);
	}
	fclose(list);
	printf("%d names, %d missing\n", names, missing);
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

	start();
	if (argc != 2)
		return 2;
	library = NEED(dlopen("libibverbs.so.1", RTLD_NOW));
	for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++)
		wanted(versions[i], base);
	every_name(argv[1]);
	CHECK(dlsym(library, "verbs_allow_disassociate_destroy") &&
	      !*(char *)dlsym(library, "verbs_allow_disassociate_destroy"));
	return finish();
}
