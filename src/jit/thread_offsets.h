/**
 * @fileoverview Offsets of the fields of struct sn_thread that emitted code and assembly use, relative to the
 * per-thread segment base. Checked against the structure in thread.c. Plain #defines because assembly includes it.
 */
#ifndef SONDE_JIT_THREAD_OFFSETS_H
#define SONDE_JIT_THREAD_OFFSETS_H

#define SN_THREAD_GENERAL 0x00        /* 16 client general registers, hardware order */
#define SN_THREAD_PC 0x80
#define SN_THREAD_FLAGS 0x88
#define SN_THREAD_SPILL 0x90          /* 3 slots; a field behind them that only C code looks at */
#define SN_THREAD_ENGINE_STACK 0xb0
#define SN_THREAD_ENGINE_BASE 0xb8    /* the engine's thread pointer */
#define SN_THREAD_CLIENT_BASE 0xc0    /* the client's thread pointer while engine code runs */
#define SN_THREAD_CLIENT_BASE2 0xc8   /* what the client believes the second segment base to be */
#define SN_THREAD_RESUME 0xd0
#define SN_THREAD_SAVE_AREA 0xd8
#define SN_THREAD_LOAD_AREA 0xe0
#define SN_THREAD_LOAD_MASK 0xe8
#define SN_THREAD_EXIT 0xf0
#define SN_THREAD_RECHECK 0xf4
#define SN_THREAD_SELF 0xf8
#define SN_THREAD_DISPATCH 0x100
#define SN_THREAD_REENTER 0x108
#define SN_THREAD_SAVE_MASK 0x110
#define SN_THREAD_LAST_SYSCALL 0x118
#define SN_THREAD_SEGMENT_INSTRUCTIONS 0x120 /* 1: rdfsbase and wrfsbase work */
#define SN_THREAD_BRANCH_SITE 0x128
#define SN_THREAD_BY_RETURN 0x130 /* where returns are predicted: the last indirect branch was one */
#define SN_THREAD_IN_FAST_CALL 0x134 /* a tool's function runs that was called without leaving the cache */
#define SN_THREAD_SAVED_FLAGS 0x138  /* the client's flags while analysis code changes them */
#define SN_THREAD_SAVED 0x140        /* the client's general registers while analysis code uses them */
#define SN_THREAD_BRANCH_SPILL 0x148 /* of these, the register that indirect branches use: saved there by them too */
#define SN_THREAD_KEPT 0x1c0         /* analysis registers across a fast call */
#define SN_THREAD_ARGUMENTS 0x240    /* of a tool's function */
#define SN_THREAD_TRACES 0x270       /* where the next record of each trace goes */
#define SN_THREAD_TRACE_COUNT 8
#define SN_THREAD_VALUES 0x2b0       /* virtual registers that are used at several places */
#define SN_THREAD_VALUE_COUNT 128
#define SN_THREAD_SLOTS 0x6b0        /* the tool's */
#define SN_THREAD_SLOT_COUNT 128
#define SN_THREAD_STEPPED_TO 0xab0   /* where a client that steps itself is without a step */
#define SN_THREAD_RARE_SAVED 0xab8   /* registers in SAVED when a fast call was made that rarely happens */
#define SN_THREAD_SHADOW 0xac0       /* shadows of the client's registers (service/shadow_registers.c) */
#define SN_THREAD_SHADOW_BYTES 0xac0
#define SN_THREAD_LEFT 0x1580         /* instructions until the thread changes to the other version of the code, in parts */
#define SN_THREAD_LEFT_PARTS 4
#define SN_THREAD_PASSED 0x15a0       /* what blocks that count in both versions have counted in version 1 */
#define SN_THREAD_GENERAL_TABLE 0x15a8 /* that the general lookup uses: of the version that the thread is in */

/* Per-thread counters follow the structure in the same mapping. */
#define SN_THREAD_COUNTERS 0x10000

/* Values of the exit field that are no block exit's number. */
#define SN_EXIT_INDIRECT 1    /* an indirect branch found no block: pc holds the target */
#define SN_EXIT_RESUME 2      /* go on at pc */
#define SN_EXIT_SYSCALL 3     /* a system call that the engine carries out; pc is behind it */
#define SN_EXIT_BAD_ADDRESS 4 /* a system call returned EFAULT; pc is behind it */
#define SN_EXIT_FAR 5         /* as INDIRECT, from the general lookup */
#define SN_EXIT_FATAL 6       /* the client dies of a signal */
#define SN_EXIT_VERIFIED 7    /* the instructions of a block have been single-stepped (guest/verify.c) */
#define SN_EXIT_TRACE_FULL 8  /* a store ran into the end of a trace buffer (trace_full); resume is that store */
#define SN_EXIT_FIRST_BLOCK_EXIT 16

#endif
