/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Records of the subnet administration (IBTA volume 1, chapter 15): paths, multicast groups,
 * services. Users are librdmacm and what asks the subnet manager.
 */
#ifndef INFINIBAND_SA_H
#define INFINIBAND_SA_H

#include <infiniband/verbs.h>
#include <linux/types.h>

/* A path between two ports. */
struct ibv_sa_path_rec {
	/* Destination GID. */
	union ibv_gid dgid;
	/* Source GID. */
	union ibv_gid sgid;
	/* Destination LID, network byte order. */
	__be16 dlid;
	/* Source LID, network byte order. */
	__be16 slid;
	/* Non-zero: for raw packets. */
	int raw_traffic;
	/* Flow label, network byte order. */
	__be32 flow_label;
	/* Hop limit. */
	uint8_t hop_limit;
	/* Traffic class. */
	uint8_t traffic_class;
	/* Non-zero: usable in both directions. */
	int reversible;
	/* Most paths to return. */
	uint8_t numb_path;
	/* P_Key, network byte order. */
	__be16 pkey;
	/* Service level. */
	uint8_t sl;
	/* How mtu is meant. */
	uint8_t mtu_selector;
	/* MTU, ibv_mtu. */
	uint8_t mtu;
	/* How rate is meant. */
	uint8_t rate_selector;
	/* Rate, ibv_rate. */
	uint8_t rate;
	/* How packet_life_time is meant. */
	uint8_t packet_life_time_selector;
	/* Longest time on the way: 4.096 us * 2^n. */
	uint8_t packet_life_time;
	/* 0 is the best. */
	uint8_t preference;
};

/* Membership in a multicast group. */
struct ibv_sa_mcmember_rec {
	/* Multicast GID. */
	union ibv_gid mgid;
	/* GID of the member. */
	union ibv_gid port_gid;
	/* Q_Key of the group. */
	uint32_t qkey;
	/* Multicast LID. */
	uint16_t mlid;
	/* How mtu is meant. */
	uint8_t mtu_selector;
	/* MTU, ibv_mtu. */
	uint8_t mtu;
	/* Traffic class. */
	uint8_t traffic_class;
	/* P_Key. */
	uint16_t pkey;
	/* How rate is meant. */
	uint8_t rate_selector;
	/* Rate, ibv_rate. */
	uint8_t rate;
	/* How packet_life_time is meant. */
	uint8_t packet_life_time_selector;
	/* Longest time on the way: 4.096 us * 2^n. */
	uint8_t packet_life_time;
	/* Service level. */
	uint8_t sl;
	/* Flow label. */
	uint32_t flow_label;
	/* Hop limit. */
	uint8_t hop_limit;
	/* Scope of the multicast address. */
	uint8_t scope;
	/* Bits: 0 full member, 1 non-member, 2 send-only non-member. */
	uint8_t join_state;
	/* Non-zero: joined on behalf of another port. */
	int proxy_join;
};

/* A registered service. */
struct ibv_sa_service_rec {
	/* Service id. */
	uint64_t id;
	/* GID of the port that offers it. */
	union ibv_gid gid;
	/* P_Key. */
	uint16_t pkey;
	/* Lease in seconds; all ones is for ever. */
	uint32_t lease;
	/* Key that protects the record. */
	uint8_t key[16];
	/* Name. */
	uint8_t name[64];
	/* Data of the service. */
	uint8_t data8[16];
	/* Data of the service. */
	uint16_t data16[8];
	/* Data of the service. */
	uint32_t data32[4];
	/* Data of the service. */
	uint64_t data64[2];
};

/* ibv_path_record.reversible_numpath: usable in both directions. */
#define IBV_PATH_RECORD_REVERSIBLE 128

/* A path record as on the wire; numbers are in network byte order. */
struct ibv_path_record {
	/* Service id. */
	__be64 service_id;
	/* Destination GID. */
	union ibv_gid dgid;
	/* Source GID. */
	union ibv_gid sgid;
	/* Destination LID. */
	__be16 dlid;
	/* Source LID. */
	__be16 slid;
	/* Raw traffic (1 bit), reserved (3), flow label (20), hop limit (8). */
	__be32 flowlabel_hoplimit;
	/* Traffic class. */
	uint8_t tclass;
	/* Reversible (1 bit), number of paths (7). */
	uint8_t reversible_numpath;
	/* P_Key. */
	__be16 pkey;
	/* QoS class (12 bits), service level (4). */
	__be16 qosclass_sl;
	/* Selector (2 bits), MTU (6). */
	uint8_t mtu;
	/* Selector (2 bits), rate (6). */
	uint8_t rate;
	/* Selector (2 bits), packet life time (6). */
	uint8_t packetlifetime;
	/* 0 is the best. */
	uint8_t preference;
	/* 0. */
	uint8_t reserved[6];
};

/* ibv_path_data.flags: for management datagrams. */
#define IBV_PATH_FLAG_GMP (1 << 0)

/* ibv_path_data.flags: primary path. */
#define IBV_PATH_FLAG_PRIMARY (1 << 1)

/* ibv_path_data.flags: alternate path. */
#define IBV_PATH_FLAG_ALTERNATE (1 << 2)

/* ibv_path_data.flags: from here to the peer. */
#define IBV_PATH_FLAG_OUTBOUND (1 << 3)

/* ibv_path_data.flags: from the peer to here. */
#define IBV_PATH_FLAG_INBOUND (1 << 4)

/* ibv_path_data.flags: from the peer to here, given as its reverse. */
#define IBV_PATH_FLAG_INBOUND_REVERSE (1 << 5)

/* ibv_path_data.flags: both ways. */
#define IBV_PATH_FLAG_BIDIRECTIONAL (IBV_PATH_FLAG_OUTBOUND | IBV_PATH_FLAG_INBOUND_REVERSE)

/* A path record and what it is for, as exchanged with connection managers. */
struct ibv_path_data {
	/* See IBV_PATH_FLAG_*. */
	uint32_t flags;
	/* 0. */
	uint32_t reserved;
	/* The record. */
	struct ibv_path_record path;
};

#endif
