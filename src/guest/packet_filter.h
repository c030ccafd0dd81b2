/**
 * @fileoverview Programs in the classic packet filter language over the data of a system call: checking and running.
 *
 * Knows nothing of threads or of what a result means; guest/seccomp.c uses it.
 */
#ifndef SONDE_GUEST_PACKET_FILTER_H
#define SONDE_GUEST_PACKET_FILTER_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>

/** Whether the kernel would accept the program (1 to BPF_MAXINSNS instructions) as a seccomp filter: known instructions,
    aligned loads from struct seccomp_data only, forward jumps that stay inside, cells that are written before they are
    read, a return at the end. What was accepted can be run. */
bool sn_packet_filter_check(const struct sock_filter *program, unsigned length);

/** Run a program that was accepted: what it returns. */
uint32_t sn_packet_filter_run(const struct sock_filter *program, const struct seccomp_data *data);

#endif
