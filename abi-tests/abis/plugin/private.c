/* The functions of the version node that no operation calls. */
#include "plugin.h"

void private_functions(struct ibv_context *context)
{
	struct verbs_context *verbs = (void *)((char *)context -
					       offsetof(struct verbs_context, context));
	struct ibv_comp_channel channel = { .context = context, .fd = -1 };
	struct ibv_cq *cq = guarded(sizeof(*cq), "private_cq");
	unsigned int type = 99;
	struct link link, more;
	int ret;

	say("  verbs_allow_disassociate_destroy: %d", verbs_allow_disassociate_destroy);

	/* To the file that VERBS_LOG_FILE names, which the test looks at. */
	errno = E2BIG;
	__verbs_log(verbs, 1, "a line of %s %d\n", "release", RELEASE);
	__verbs_log(verbs, 4, "never to be seen\n");
	say("  __verbs_log leaves errno %s", error_text(errno));

	linked(&link, UVERBS_OBJECT_DM, 0, 1);
	link.buffer.next = linked(&more, UVERBS_OBJECT_DM, 0, 2);
	say("  __ioctl_final_num_attrs: %u", __ioctl_final_num_attrs(3, &link.buffer));
	say("  __ioctl_final_num_attrs of nothing: %u", __ioctl_final_num_attrs(3, NULL));

	linked(&link, UVERBS_OBJECT_DM, 1, 77);
	link.attrs[0].attr_id = 0;
	link.attrs[0].len = 0;
	ret = execute_ioctl(context, &link.buffer);
	say("  execute_ioctl: %s", may_refuse && ret ? "0" : error_text(ret));

	verbs_init_cq(cq, context, &channel, &channel);
	say("  verbs_init_cq: %s, %s, %s, refcnt %d", name_of(cq->context),
	    cq->channel == &channel ? "channel" : "?", cq->cq_context == &channel ? "cq_context" : "?",
	    channel.refcnt);
	release(cq);

	ret = ibv_query_gid_type(context, 1, 0, &type);
	say("    ibv_query_gid_type: %d, type %u", ret, type);

#if RELEASE >= 49
	say("  ibv_wr_opcode_str: %s", ibv_wr_opcode_str(IBV_WR_SEND_WITH_IMM));
#endif

#if RELEASE >= 64
	{
		struct ibv_dmabuf_heap *heap = ibv_dmabuf_heap_cc_shared_init();
		void *buffer;
		int fd = -1;

		say("    ibv_dmabuf_heap_cc_shared_init: %s", heap ? "ok" : error_text(errno));
		if (heap) {
			buffer = ibv_dmabuf_heap_alloc(heap, 8192, &fd);
			say("    ibv_dmabuf_heap_alloc: %s, %s", buffer ? "ok" : error_text(errno),
			    fd < 0 ? "no fd" : "fd");
			if (buffer) {
				memset(buffer, 1, 8192);
				ibv_dmabuf_heap_free(buffer, 8192, fd);
			}
			ibv_dmabuf_heap_destroy(heap);
		}
	}
#endif
	check_guards();
}
