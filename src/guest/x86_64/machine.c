/**
 * @fileoverview What this processor and kernel offer: extended state; binding a kernel thread to its state. Per-architecture file.
 */
#include <asm/prctl.h>
#include <asm/unistd.h>
#include <cpuid.h>
#include <string.h>

#include "base/log.h"
#include "base/settings.h"
#include "base/x86_64/raw_syscall.h"
#include "guest/thread.h"
#include "isa/x86_64/features.h"

/** x87, SSE, AVX, AVX-512 (Intel SDM volume 1, 13.1): what compiled engine code may change. Tiles and keys stay. */
#define SAVED_COMPONENTS UINT64_C(0xe7)
#define COMPACT_FORMAT (UINT64_C(1) << 63)
#define HEADER_OFFSET 512
#define MXCSR_OFFSET 24

/** Tile configuration and data: saved too where the effects of client code are compared and undone. */
#define TILE_COMPONENTS UINT64_C(0x60000)

static uint64_t enabled_components;
static size_t state_size;

void sn_machine_init(void) {
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
        sn_fail(SN_STATUS_ENGINE, "this processor has no XSAVE; Sonde needs it");
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    enabled_components = (uint64_t)high << 32 | low;
    __cpuid_count(13, 1, a, b, c, d);
    if (!(a & 2)) sn_fail(SN_STATUS_ENGINE, "this processor has no XSAVEC; Sonde needs it");
    __cpuid_count(13, 0, a, b, c, d);
    state_size = ((size_t)c + 63) & ~(size_t)63; /* for all components that the processor knows, standard format */
}

size_t sn_machine_state_size(void) { return state_size; }

void sn_machine_prepare_thread(sn_thread *thread) {
    thread->segment_instructions = sn_features_read_bases();
    uint64_t wanted = SAVED_COMPONENTS | (sn_settings_current.verify_blocks ? TILE_COMPONENTS : 0);
    thread->save_mask = wanted & enabled_components;
    thread->load_mask = thread->save_mask;
    thread->load_mask_all = enabled_components;
    thread->state_size = state_size;
    thread->load_area = thread->save_area;
    /* The first load finds an image in which every component has its initial value. */
    uint8_t *area = thread->save_area;
    uint64_t format = COMPACT_FORMAT | thread->save_mask;
    uint32_t mxcsr = 0x1f80;
    memcpy(area + HEADER_OFFSET + 8, &format, 8);
    memcpy(area + MXCSR_OFFSET, &mxcsr, 4);
}

const char *sn_thread_register(const sn_thread *thread, unsigned number, uint64_t *value) {
    static const char *const names[16] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                          "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"};
    if (number >= 16) return NULL;
    *value = thread->general[number];
    return names[number];
}

void sn_thread_bind(sn_thread *thread) { sn_syscall(__NR_arch_prctl, ARCH_SET_GS, thread); }
