/*
 * What a plugin of rdma-core RELEASE (39, 44, 47, 50, 53, 55, 57, 60, 63, 64 or 65, each standing
 * for the releases that are equal to it) sees of the library: the private interface of that release.
 * Public types that changed since have the form of that release; all others are those of the
 * installed header. layouts/RELEASE.h has the sizes and offsets, which are checked below.
 */
#ifndef ABI_TESTS_PLUGIN_API_H
#define ABI_TESTS_PLUGIN_API_H

#ifndef RELEASE
#error "RELEASE is to be given"
#endif

/* The number in the version node, in names of files and in the name of the registering function. */
#if RELEASE < 57
#define PRIVATE_ABI 34
#elif RELEASE < 59
#define PRIVATE_ABI 57
#elif RELEASE < 64
#define PRIVATE_ABI 59
#else
#define PRIVATE_ABI RELEASE
#endif

#define TEXT_(a) #a
#define TEXT(a) TEXT_(a)

/* The installed header has the newest form of these; it must not stand in the way of ours. */
#define ibv_buf newest_buf
#define ibv_comp_cntr newest_comp_cntr
#define ibv_dmah newest_dmah
#define ibv_fd_arr newest_fd_arr
#define ibv_mr_init_attr newest_mr_init_attr
#define ibv_port_attr newest_port_attr
#define ibv_qp_ex newest_qp_ex
#define verbs_context newest_verbs_context
#include <infiniband/verbs.h>
#undef ibv_buf
#undef ibv_comp_cntr
#undef ibv_dmah
#undef ibv_fd_arr
#undef ibv_mr_init_attr
#undef ibv_port_attr
#undef ibv_qp_ex
#undef verbs_context
#undef ibv_query_port
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* Public types of that release. */

struct ibv_port_attr {
	enum ibv_port_state state;
	enum ibv_mtu max_mtu, active_mtu;
	int gid_tbl_len;
	uint32_t port_cap_flags, max_msg_sz, bad_pkey_cntr, qkey_viol_cntr;
	uint16_t pkey_tbl_len, lid, sm_lid;
	uint8_t lmc, max_vl_num, sm_sl, subnet_timeout, init_type_reply;
	uint8_t active_width, active_speed, phys_state, link_layer, flags;
	uint16_t port_cap_flags2;
#if RELEASE >= 49
	uint32_t active_speed_ex;
#endif
};

struct ibv_qp_ex {
	struct ibv_qp qp_base;
	uint64_t comp_mask, wr_id;
	unsigned int wr_flags;
	void (*wr_atomic_cmp_swp)(struct ibv_qp_ex *, uint32_t, uint64_t, uint64_t, uint64_t);
	void (*wr_atomic_fetch_add)(struct ibv_qp_ex *, uint32_t, uint64_t, uint64_t);
	void (*wr_bind_mw)(struct ibv_qp_ex *, struct ibv_mw *, uint32_t,
			   const struct ibv_mw_bind_info *);
	void (*wr_local_inv)(struct ibv_qp_ex *, uint32_t);
	void (*wr_rdma_read)(struct ibv_qp_ex *, uint32_t, uint64_t);
	void (*wr_rdma_write)(struct ibv_qp_ex *, uint32_t, uint64_t);
	void (*wr_rdma_write_imm)(struct ibv_qp_ex *, uint32_t, uint64_t, __be32);
	void (*wr_send)(struct ibv_qp_ex *);
	void (*wr_send_imm)(struct ibv_qp_ex *, __be32);
	void (*wr_send_inv)(struct ibv_qp_ex *, uint32_t);
	void (*wr_send_tso)(struct ibv_qp_ex *, void *, uint16_t, uint16_t);
	void (*wr_set_ud_addr)(struct ibv_qp_ex *, struct ibv_ah *, uint32_t, uint32_t);
	void (*wr_set_xrc_srqn)(struct ibv_qp_ex *, uint32_t);
	void (*wr_set_inline_data)(struct ibv_qp_ex *, void *, size_t);
	void (*wr_set_inline_data_list)(struct ibv_qp_ex *, size_t, const struct ibv_data_buf *);
	void (*wr_set_sge)(struct ibv_qp_ex *, uint32_t, uint64_t, uint32_t);
	void (*wr_set_sge_list)(struct ibv_qp_ex *, size_t, const struct ibv_sge *);
	void (*wr_start)(struct ibv_qp_ex *);
	int (*wr_complete)(struct ibv_qp_ex *);
	void (*wr_abort)(struct ibv_qp_ex *);
#if RELEASE >= 44
	void (*wr_atomic_write)(struct ibv_qp_ex *, uint32_t, uint64_t, const void *);
#endif
#if RELEASE >= 45
	void (*wr_flush)(struct ibv_qp_ex *, uint32_t, uint64_t, size_t, uint8_t, uint8_t);
#endif
};

#if RELEASE >= 57
struct ibv_fd_arr {
	int *arr;
	uint32_t count;
};
#endif

#if RELEASE >= 59
struct ibv_dmah {
	struct ibv_context *context;
};

struct ibv_mr_init_attr {
	size_t length;
	int access;
	uint64_t comp_mask, iova;
	void *addr;
	int fd;
	uint64_t fd_offset;
	struct ibv_dmah *dmah;
#if RELEASE >= 64
	struct ibv_buf *buf;
#endif
};
#endif

#if RELEASE >= 64
struct ibv_buf {
	void *addr;
	size_t size;
	struct ibv_pd *pd;
	int dmabuf_fd;
};

struct ibv_dmabuf_heap;
#endif

#if RELEASE >= 65
struct ibv_comp_cntr {
	struct ibv_context *context;
	uint32_t handle;
};
#endif

/* Devices. */

struct list_node {
	struct list_node *next, *prev;
};

enum { MATCH_END, MATCH_PCI, MATCH_NAME, MATCH_DRIVER_ID };

struct verbs_match_ent {
	void *driver_data;
	union {
		const char *modalias;
		uint64_t driver_id;
	} u;
	uint16_t vendor, device;
	uint8_t kind;
};

struct verbs_sysfs_dev {
	struct list_node entry;
	void *provider_data;
	const struct verbs_match_ent *match;
	unsigned int flags;
	char sysfs_name[64];
	dev_t sysfs_cdev;
	char ibdev_name[64], ibdev_path[256], modalias[512];
	uint64_t node_guid;
	uint32_t driver_id;
	enum ibv_node_type node_type;
	int ibdev_idx;
	uint32_t num_ports;
	uint32_t abi_ver;
	struct timespec time_created;
};

struct verbs_device {
	struct ibv_device device;
	const struct verbs_device_ops *ops;
	int refcount;
	struct list_node entry;
	struct verbs_sysfs_dev *sysfs;
	uint64_t core_support;
};

struct verbs_device_ops {
	const char *name;
	uint32_t match_min_abi_version, match_max_abi_version;
	const struct verbs_match_ent *match_table;
	const struct verbs_device_ops **static_providers;
	bool (*match_device)(struct verbs_sysfs_dev *);
	struct verbs_context *(*alloc_context)(struct ibv_device *, int, void *);
	struct verbs_context *(*import_context)(struct ibv_device *, int);
	struct verbs_device *(*alloc_device)(struct verbs_sysfs_dev *);
	void (*uninit_device)(struct verbs_device *);
};

/* Contexts: what grows at the front is what is new. */

typedef void (*verbs_slot)(void);

struct verbs_context {
#if RELEASE >= 64
	verbs_slot free_buf, alloc_buf;
#endif
#if RELEASE >= 62
	verbs_slot dm_export_dmabuf_fd;
#endif
#if RELEASE >= 59
	verbs_slot reg_mr_ex, dealloc_dmah, alloc_dmah;
#endif
	verbs_slot query_port, advise_mr, alloc_null_mr, read_counters, attach_counters_point_flow;
	verbs_slot create_counters, destroy_counters, reg_dm_mr, alloc_dm, free_dm;
	verbs_slot modify_flow_action_esp, destroy_flow_action, create_flow_action_esp;
	verbs_slot modify_qp_rate_limit, alloc_parent_domain, dealloc_td, alloc_td, modify_cq;
	verbs_slot post_srq_ops, destroy_rwq_ind_table, create_rwq_ind_table, destroy_wq, modify_wq;
	verbs_slot create_wq, query_rt_values, create_cq_ex;
	void *priv;
	verbs_slot query_device_ex, ibv_destroy_flow, ABI_placeholder2, ibv_create_flow;
	verbs_slot ABI_placeholder1, open_qp, create_qp_ex, get_srq_num, create_srq_ex, open_xrcd;
	verbs_slot close_xrcd;
	uint64_t _ABI_placeholder3;
	size_t sz;
	struct ibv_context context;
};

struct verbs_mr;

struct verbs_context_ops {
#define OPERATION(type, name, parameters) type (*name) parameters;
#include "operations.h"
#undef OPERATION
};

/* Objects. */

struct verbs_mr {
	struct ibv_mr ibv_mr;
	enum { MR, NULL_MR, IMPORTED_MR, DMABUF_MR } mr_type;
	int access;
};

struct verbs_xrcd {
	struct ibv_xrcd xrcd;
	uint32_t comp_mask, handle;
};

struct verbs_srq {
	struct ibv_srq srq;
	enum ibv_srq_type srq_type;
	struct verbs_xrcd *xrcd;
	struct ibv_cq *cq;
	uint32_t srq_num;
};

enum { VERBS_QP_XRCD = 1, VERBS_QP_EX = 2 };

struct verbs_qp {
	union {
		struct ibv_qp qp;
		struct ibv_qp_ex qp_ex;
	};
	uint32_t comp_mask;
	struct verbs_xrcd *xrcd;
};

struct verbs_cq {
	union {
		struct ibv_cq cq;
		struct ibv_cq_ex cq_ex;
	};
};

struct verbs_dm {
	struct ibv_dm dm;
	uint32_t handle;
};

struct verbs_counters {
	struct ibv_counters counters;
	uint32_t handle;
};

struct verbs_flow_action {
	struct ibv_flow_action action;
	uint32_t handle;
	enum { ACTION_UNSPECIFIED, ACTION_ESP } type;
};

#if RELEASE >= 59
struct verbs_dmah {
	struct ibv_dmah dmah;
	uint32_t handle;
};

/* The memory of a completion queue that a plugin has allocated. */
struct verbs_create_cq_prov_attr {
	struct {
		uint64_t length;
		union {
			uint8_t *ptr;
			struct {
				uint64_t offset;
				int fd;
			} dmabuf;
		};
	} buffer;
};
#endif

/* Commands to the kernel. */

struct ibv_command_buffer {
	struct ibv_command_buffer *next;
	struct ib_uverbs_attr *next_attr, *last_attr;
	uint8_t uhw_in_idx, uhw_out_idx, uhw_in_headroom_dwords, uhw_out_headroom_dwords;
	uint8_t buffer_error : 1, fallback_require_ex : 1, fallback_ioctl_only : 1;
	struct ib_uverbs_ioctl_hdr hdr;
};

struct extended_header {
	struct ib_uverbs_cmd_hdr hdr;
	struct ib_uverbs_ex_cmd_hdr ex_hdr;
};

#define COMMAND(name, core)                                                                        \
	struct name {                                                                              \
		struct ib_uverbs_cmd_hdr hdr;                                                      \
		struct core core_payload;                                                          \
	}
#define EXTENDED_COMMAND(name, core)                                                               \
	struct name {                                                                              \
		struct extended_header hdr;                                                        \
		struct core core_payload;                                                          \
	}

COMMAND(ibv_alloc_mw, ib_uverbs_alloc_mw);
COMMAND(ibv_alloc_pd, ib_uverbs_alloc_pd);
COMMAND(ibv_create_cq, ib_uverbs_create_cq);
COMMAND(ibv_create_qp, ib_uverbs_create_qp);
COMMAND(ibv_create_srq, ib_uverbs_create_srq);
COMMAND(ibv_create_xsrq, ib_uverbs_create_xsrq);
COMMAND(ibv_get_context, ib_uverbs_get_context);
COMMAND(ibv_modify_qp, ib_uverbs_modify_qp);
COMMAND(ibv_modify_srq, ib_uverbs_modify_srq);
COMMAND(ibv_open_qp, ib_uverbs_open_qp);
COMMAND(ibv_open_xrcd, ib_uverbs_open_xrcd);
COMMAND(ibv_query_port, ib_uverbs_query_port);
COMMAND(ibv_query_qp, ib_uverbs_query_qp);
COMMAND(ibv_query_srq, ib_uverbs_query_srq);
COMMAND(ibv_reg_mr, ib_uverbs_reg_mr);
COMMAND(ibv_rereg_mr, ib_uverbs_rereg_mr);
COMMAND(ibv_resize_cq, ib_uverbs_resize_cq);
EXTENDED_COMMAND(ibv_create_cq_ex, ib_uverbs_ex_create_cq);
EXTENDED_COMMAND(ibv_create_qp_ex, ib_uverbs_ex_create_qp);
EXTENDED_COMMAND(ibv_create_wq, ib_uverbs_ex_create_wq);
EXTENDED_COMMAND(ibv_modify_cq, ib_uverbs_ex_modify_cq);
EXTENDED_COMMAND(ibv_modify_qp_ex, ib_uverbs_ex_modify_qp);
EXTENDED_COMMAND(ibv_modify_wq, ib_uverbs_ex_modify_wq);

/* Functions of the version node of that release, in its form. */

extern bool verbs_allow_disassociate_destroy;

/* Each release has one of these. */
void verbs_register_driver_34(const struct verbs_device_ops *ops);
void verbs_register_driver_57(const struct verbs_device_ops *ops);
void verbs_register_driver_59(const struct verbs_device_ops *ops);
void verbs_register_driver_64(const struct verbs_device_ops *ops);
void verbs_register_driver_65(const struct verbs_device_ops *ops);
void *_verbs_init_and_alloc_context(struct ibv_device *device, int cmd_fd, size_t alloc_size,
				    struct verbs_context *context_offset, uint32_t driver_id);
void verbs_init_cq(struct ibv_cq *cq, struct ibv_context *context,
		   struct ibv_comp_channel *channel, void *cq_context);
struct ibv_context *verbs_open_device(struct ibv_device *device, void *private_data);
void verbs_set_ops(struct verbs_context *context, const struct verbs_context_ops *ops);
void verbs_uninit_context(struct verbs_context *context);
void __verbs_log(struct verbs_context *context, uint32_t level, const char *format, ...);
int ibv_read_ibdev_sysfs_file(char *buffer, size_t size, struct verbs_sysfs_dev *device,
			      const char *format, ...);
int ibv_query_gid_type(struct ibv_context *context, uint8_t port, unsigned int index,
		       unsigned int *type);
#if RELEASE >= 49
const char *ibv_wr_opcode_str(enum ibv_wr_opcode opcode);
#endif

unsigned int __ioctl_final_num_attrs(unsigned int count, struct ibv_command_buffer *link);
int execute_ioctl(struct ibv_context *context, struct ibv_command_buffer *cmd);

#if RELEASE >= 57
int ibv_cmd_get_context(struct verbs_context *context, struct ibv_get_context *cmd, size_t cmd_size,
			struct ibv_fd_arr *fds, struct ib_uverbs_get_context_resp *resp,
			size_t resp_size);
#else
int ibv_cmd_get_context(struct verbs_context *context, struct ibv_get_context *cmd, size_t cmd_size,
			struct ib_uverbs_get_context_resp *resp, size_t resp_size);
#endif
int ibv_cmd_query_context(struct ibv_context *context, struct ibv_command_buffer *driver);
int ibv_cmd_query_device_any(struct ibv_context *context,
			     const struct ibv_query_device_ex_input *input,
			     struct ibv_device_attr_ex *attr, size_t attr_size,
			     struct ib_uverbs_ex_query_device_resp *resp, size_t *resp_size);
int ibv_cmd_query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr,
		       struct ibv_query_port *cmd, size_t cmd_size);
#if RELEASE >= 62
int ibv_cmd_query_port_speed(struct ibv_context *context, uint32_t port, uint64_t *speed);
int ibv_cmd_export_dmabuf_fd(struct ibv_context *context, off_t offset);
#endif

int ibv_cmd_alloc_pd(struct ibv_context *context, struct ibv_pd *pd, struct ibv_alloc_pd *cmd,
		     size_t cmd_size, struct ib_uverbs_alloc_pd_resp *resp, size_t resp_size);
int ibv_cmd_dealloc_pd(struct ibv_pd *pd);
int ibv_cmd_open_xrcd(struct ibv_context *context, struct verbs_xrcd *xrcd, int xrcd_size,
		      struct ibv_xrcd_init_attr *attr, struct ibv_open_xrcd *cmd, size_t cmd_size,
		      struct ib_uverbs_open_xrcd_resp *resp, size_t resp_size);
int ibv_cmd_close_xrcd(struct verbs_xrcd *xrcd);

int ibv_cmd_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access,
		   struct verbs_mr *mr, struct ibv_reg_mr *cmd, size_t cmd_size,
		   struct ib_uverbs_reg_mr_resp *resp, size_t resp_size);
int ibv_cmd_rereg_mr(struct verbs_mr *mr, uint32_t flags, void *addr, size_t length, uint64_t iova,
		     int access, struct ibv_pd *pd, struct ibv_rereg_mr *cmd, size_t cmd_size,
		     struct ib_uverbs_rereg_mr_resp *resp, size_t resp_size);
int ibv_cmd_dereg_mr(struct verbs_mr *mr);
#if RELEASE >= 54
int ibv_cmd_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd,
			  int access, struct verbs_mr *mr, struct ibv_command_buffer *driver);
#else
int ibv_cmd_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd,
			  int access, struct verbs_mr *mr);
#endif
int ibv_cmd_reg_dm_mr(struct ibv_pd *pd, struct verbs_dm *dm, uint64_t offset, size_t length,
		      unsigned int access, struct verbs_mr *mr, struct ibv_command_buffer *link);
int ibv_cmd_query_mr(struct ibv_pd *pd, struct verbs_mr *mr, uint32_t handle);
int ibv_cmd_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
		      struct ibv_sge *list, uint32_t count);
int ibv_cmd_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type, struct ibv_mw *mw,
		     struct ibv_alloc_mw *cmd, size_t cmd_size,
		     struct ib_uverbs_alloc_mw_resp *resp, size_t resp_size);
int ibv_cmd_dealloc_mw(struct ibv_mw *mw);
int ibv_cmd_alloc_dm(struct ibv_context *context, const struct ibv_alloc_dm_attr *attr,
		     struct verbs_dm *dm, struct ibv_command_buffer *link);
int ibv_cmd_free_dm(struct verbs_dm *dm);
#if RELEASE >= 59
int ibv_cmd_reg_mr_ex(struct ibv_pd *pd, struct verbs_mr *mr, struct ibv_mr_init_attr *attr);
int ibv_cmd_alloc_dmah(struct ibv_context *context, struct verbs_dmah *dmah,
		       struct ibv_dmah_init_attr *attr);
int ibv_cmd_free_dmah(struct verbs_dmah *dmah);
#endif
#if RELEASE >= 64
struct ibv_dmabuf_heap *ibv_dmabuf_heap_cc_shared_init(void);
void ibv_dmabuf_heap_destroy(struct ibv_dmabuf_heap *heap);
void *ibv_dmabuf_heap_alloc(struct ibv_dmabuf_heap *heap, size_t size, int *dmabuf_fd);
void ibv_dmabuf_heap_free(void *buffer, size_t size, int dmabuf_fd);
#endif

int ibv_cmd_create_cq(struct ibv_context *context, int cqe, struct ibv_comp_channel *channel,
		      int comp_vector, struct ibv_cq *cq, struct ibv_create_cq *cmd,
		      size_t cmd_size, struct ib_uverbs_create_cq_resp *resp, size_t resp_size);
#if RELEASE >= 59
int ibv_cmd_create_cq_ex(struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr,
			 struct verbs_create_cq_prov_attr *prov_attr, struct verbs_cq *cq,
			 struct ibv_create_cq_ex *cmd, size_t cmd_size,
			 struct ib_uverbs_ex_create_cq_resp *resp, size_t resp_size,
			 uint32_t flags);
int ibv_cmd_create_cq_ex2(struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr,
			  struct verbs_create_cq_prov_attr *prov_attr, struct verbs_cq *cq,
			  struct ibv_create_cq_ex *cmd, size_t cmd_size,
			  struct ib_uverbs_ex_create_cq_resp *resp, size_t resp_size,
			  uint32_t flags, struct ibv_command_buffer *driver);
#else
int ibv_cmd_create_cq_ex(struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr,
			 struct verbs_cq *cq, struct ibv_create_cq_ex *cmd, size_t cmd_size,
			 struct ib_uverbs_ex_create_cq_resp *resp, size_t resp_size,
			 uint32_t flags);
#if RELEASE >= 53
int ibv_cmd_create_cq_ex2(struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr,
			  struct verbs_cq *cq, struct ibv_create_cq_ex *cmd, size_t cmd_size,
			  struct ib_uverbs_ex_create_cq_resp *resp, size_t resp_size,
			  uint32_t flags, struct ibv_command_buffer *driver);
#endif
#endif
int ibv_cmd_resize_cq(struct ibv_cq *cq, int cqe, struct ibv_resize_cq *cmd, size_t cmd_size,
		      struct ib_uverbs_resize_cq_resp *resp, size_t resp_size);
int ibv_cmd_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr,
		      struct ibv_modify_cq *cmd, size_t cmd_size);
int ibv_cmd_destroy_cq(struct ibv_cq *cq);
int ibv_cmd_poll_cq(struct ibv_cq *cq, int count, struct ibv_wc *wc);
int ibv_cmd_req_notify_cq(struct ibv_cq *cq, int solicited_only);

int ibv_cmd_create_srq(struct ibv_pd *pd, struct ibv_srq *srq, struct ibv_srq_init_attr *attr,
		       struct ibv_create_srq *cmd, size_t cmd_size,
		       struct ib_uverbs_create_srq_resp *resp, size_t resp_size);
int ibv_cmd_create_srq_ex(struct ibv_context *context, struct verbs_srq *srq,
			  struct ibv_srq_init_attr_ex *attr, struct ibv_create_xsrq *cmd,
			  size_t cmd_size, struct ib_uverbs_create_srq_resp *resp,
			  size_t resp_size);
int ibv_cmd_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask,
		       struct ibv_modify_srq *cmd, size_t cmd_size);
int ibv_cmd_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, struct ibv_query_srq *cmd,
		      size_t cmd_size);
int ibv_cmd_destroy_srq(struct ibv_srq *srq);
int ibv_cmd_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

int ibv_cmd_create_qp(struct ibv_pd *pd, struct ibv_qp *qp, struct ibv_qp_init_attr *attr,
		      struct ibv_create_qp *cmd, size_t cmd_size,
		      struct ib_uverbs_create_qp_resp *resp, size_t resp_size);
int ibv_cmd_create_qp_ex(struct ibv_context *context, struct verbs_qp *qp,
			 struct ibv_qp_init_attr_ex *attr, struct ibv_create_qp *cmd,
			 size_t cmd_size, struct ib_uverbs_create_qp_resp *resp,
			 size_t resp_size);
#if RELEASE >= 64
int ibv_cmd_create_qp_ex2(struct ibv_context *context, struct verbs_qp *qp,
			  struct ibv_qp_init_attr_ex *attr, struct ibv_create_qp_ex *cmd,
			  size_t cmd_size, struct ib_uverbs_ex_create_qp_resp *resp,
			  size_t resp_size, struct ibv_command_buffer *driver);
#else
int ibv_cmd_create_qp_ex2(struct ibv_context *context, struct verbs_qp *qp,
			  struct ibv_qp_init_attr_ex *attr, struct ibv_create_qp_ex *cmd,
			  size_t cmd_size, struct ib_uverbs_ex_create_qp_resp *resp,
			  size_t resp_size);
#endif
int ibv_cmd_open_qp(struct ibv_context *context, struct verbs_qp *qp, int qp_size,
		    struct ibv_qp_open_attr *attr, struct ibv_open_qp *cmd, size_t cmd_size,
		    struct ib_uverbs_create_qp_resp *resp, size_t resp_size);
int ibv_cmd_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		      struct ibv_modify_qp *cmd, size_t cmd_size);
int ibv_cmd_modify_qp_ex(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
			 struct ibv_modify_qp_ex *cmd, size_t cmd_size,
			 struct ib_uverbs_ex_modify_qp_resp *resp, size_t resp_size);
int ibv_cmd_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		     struct ibv_qp_init_attr *init, struct ibv_query_qp *cmd, size_t cmd_size);
int ibv_cmd_destroy_qp(struct ibv_qp *qp);
int ibv_cmd_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int ibv_cmd_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int ibv_cmd_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);
int ibv_cmd_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);

int ibv_cmd_create_ah(struct ibv_pd *pd, struct ibv_ah *ah, struct ibv_ah_attr *attr,
		      struct ib_uverbs_create_ah_resp *resp, size_t resp_size);
int ibv_cmd_destroy_ah(struct ibv_ah *ah);

int ibv_cmd_create_wq(struct ibv_context *context, struct ibv_wq_init_attr *attr,
		      struct ibv_wq *wq, struct ibv_create_wq *cmd, size_t cmd_size,
		      struct ib_uverbs_ex_create_wq_resp *resp, size_t resp_size);
int ibv_cmd_modify_wq(struct ibv_wq *wq, struct ibv_wq_attr *attr, struct ibv_modify_wq *cmd,
		      size_t cmd_size);
int ibv_cmd_destroy_wq(struct ibv_wq *wq);
int ibv_cmd_create_rwq_ind_table(struct ibv_context *context,
				 struct ibv_rwq_ind_table_init_attr *attr,
				 struct ibv_rwq_ind_table *table,
				 struct ib_uverbs_ex_create_rwq_ind_table_resp *resp,
				 size_t resp_size);
int ibv_cmd_destroy_rwq_ind_table(struct ibv_rwq_ind_table *table);

int ibv_cmd_create_flow(struct ibv_qp *qp, struct ibv_flow *flow, struct ibv_flow_attr *attr,
			void *provider, size_t provider_size);
int ibv_cmd_destroy_flow(struct ibv_flow *flow);
int ibv_cmd_create_flow_action_esp(struct ibv_context *context,
				   struct ibv_flow_action_esp_attr *attr,
				   struct verbs_flow_action *action,
				   struct ibv_command_buffer *driver);
int ibv_cmd_modify_flow_action_esp(struct verbs_flow_action *action,
				   struct ibv_flow_action_esp_attr *attr,
				   struct ibv_command_buffer *driver);
int ibv_cmd_destroy_flow_action(struct verbs_flow_action *action);
int ibv_cmd_create_counters(struct ibv_context *context, struct ibv_counters_init_attr *attr,
			    struct verbs_counters *counters, struct ibv_command_buffer *link);
int ibv_cmd_destroy_counters(struct verbs_counters *counters);
int ibv_cmd_read_counters(struct verbs_counters *counters, uint64_t *values, uint32_t count,
			  uint32_t flags, struct ibv_command_buffer *link);

#if RELEASE >= 65
int ibv_cmd_query_comp_cntr_caps(struct ibv_context *context, struct ibv_comp_cntr_caps *caps,
				 size_t caps_size);
int ibv_cmd_create_comp_cntr(struct ibv_context *context, struct ibv_comp_cntr *counter,
			     struct ibv_command_buffer *link);
int ibv_cmd_destroy_comp_cntr(struct ibv_comp_cntr *counter);
int ibv_cmd_set_comp_cntr(struct ibv_comp_cntr *counter, uint64_t value);
int ibv_cmd_set_err_comp_cntr(struct ibv_comp_cntr *counter, uint64_t value);
int ibv_cmd_inc_comp_cntr(struct ibv_comp_cntr *counter, uint64_t amount);
int ibv_cmd_inc_err_comp_cntr(struct ibv_comp_cntr *counter, uint64_t amount);
int ibv_cmd_read_comp_cntr(struct ibv_comp_cntr *counter, uint64_t *value);
int ibv_cmd_read_err_comp_cntr(struct ibv_comp_cntr *counter, uint64_t *value);
int ibv_cmd_qp_attach_comp_cntr(struct ibv_qp *qp, struct ibv_comp_cntr *counter,
				struct ibv_qp_attach_comp_cntr_attr *attr);
#endif

/* The layout is that of the release, whatever the compiler made of the above. */
#define SIZE(type, size) _Static_assert(sizeof(type) == (size), #type);
#define OFFSET(type, member, offset)                                                               \
	_Static_assert(offsetof(type, member) == (offset), #type " " #member);
#include TEXT(layouts/RELEASE.h)
#undef SIZE
#undef OFFSET

#endif
