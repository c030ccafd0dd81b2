/**
 * @fileoverview What every system call does with memory, as data: one row a call, one entry an argument.
 *
 * Pure tables, without code that looks at a process: system_call_ranges.c reads them to list the memory that the kernel reads
 * and writes. What no entry can say, a row leaves to a named function there (sn_call_more). The numbers of the calls are in
 * a file of each architecture.
 */
#ifndef SONDE_GUEST_SYSTEM_CALL_TABLE_H
#define SONDE_GUEST_SYSTEM_CALL_TABLE_H

#include <stddef.h>
#include <stdint.h>

/** What an argument is. */
typedef enum sn_argument_kind {
    SN_ARGUMENT_PLAIN,     /**< a number, a descriptor, an address that the call itself does not follow */
    SN_ARGUMENT_STRING,    /**< text up to its zero byte; at most `size` bytes if that is not 0 */
    SN_ARGUMENT_STRINGS,   /**< NULL-terminated vector of strings */
    SN_ARGUMENT_FIXED,     /**< `size` bytes */
    SN_ARGUMENT_BUFFER,    /**< `extra` bytes and `size` for each of argument `length` */
    SN_ARGUMENT_BITS,      /**< words of 64 bits for as many bits as argument `length` says, less `extra` */
    SN_ARGUMENT_VECTOR,    /**< struct iovec, as many as argument `length` says, and what they lead to */
    SN_ARGUMENT_LENGTH_AT, /**< as many bytes as the 32-bit number says to which argument `length` points; that is
                                read and written too */
    SN_ARGUMENT_SIZED,     /**< structure that holds its own 32-bit size at offset `extra`; 0 means `size` */
    SN_ARGUMENT_MESSAGE,   /**< struct msghdr and what it leads to */
} sn_argument_kind;

/** How much of what may be written was written, as the result tells. */
typedef enum sn_argument_end {
    SN_END_WHOLE,          /**< all, if the call succeeded */
    SN_END_RESULT,         /**< `extra` bytes and `size` for each that the result counts */
    SN_END_POSITIVE,       /**< all, if the result is above 0 */
    SN_END_TEXT,           /**< a string with its zero byte, if the call succeeded */
    SN_END_INTERRUPTED,    /**< all, if the call succeeded or was interrupted */
} sn_argument_end;

typedef struct sn_argument {
    uint8_t kind;          /**< sn_argument_kind */
    uint8_t role;          /**< sn_operand_role: for MESSAGE and VECTOR, of the contents */
    uint8_t end;           /**< sn_argument_end */
    uint8_t length;        /**< number of another argument */
    uint32_t size, extra;
} sn_argument;

/** Functions for what the entries cannot say (system_call_more.c). */
typedef enum sn_call_more {
    SN_MORE_NONE,
    SN_MORE_POLL,
    SN_MORE_SELECT,
    SN_MORE_SLEEP,
    SN_MORE_MINCORE,
    SN_MORE_FUTEX,
    SN_MORE_FUTEX_WAITERS,
    SN_MORE_CLONE,
    SN_MORE_CLONE3,
    SN_MORE_WAITID,
    SN_MORE_CAPABILITIES,
    SN_MORE_SEMAPHORES,
    SN_MORE_SPLICE,        /**< vmsplice reads or writes, by the kind of the descriptor */
    SN_MORE_MESSAGES,      /**< sendmmsg, recvmmsg */
    SN_MORE_SUBMIT,        /**< io_submit */
    SN_MORE_COMPLETED,     /**< io_getevents, io_pgetevents */
    SN_MORE_FILE_HANDLE,
    SN_MORE_FILTER,        /**< seccomp, prctl: struct sock_fprog */
    SN_MORE_IOCTL,
    SN_MORE_TRACED_SET,    /**< ptrace's register sets: struct iovec */
    SN_MORE_ATTRIBUTE_AT,  /**< setxattrat, getxattrat: struct xattr_args */
    SN_MORE_STAT_MOUNT,
    SN_MORE_MEMORY_MAP,    /**< prctl(PR_SET_MM) */
    SN_MORE_COUNT,
} sn_call_more;

/** Sets of cases: calls that do one of many things, as an argument says. */
typedef enum sn_call_set {
    SN_SET_NONE,
    SN_SET_FCNTL,
    SN_SET_IOCTL,          /**< requests that do not say it themselves, or say it wrongly */
    SN_SET_PRCTL,
    SN_SET_ARCH_PRCTL,
    SN_SET_SHMCTL,
    SN_SET_SEMCTL,
    SN_SET_MSGCTL,
    SN_SET_PTRACE,
    SN_SET_KEYCTL,
    SN_SET_QUOTACTL,
    SN_SET_SYSLOG,
    SN_SET_SYSFS,
    SN_SET_MODIFY_LDT,
    SN_SET_REBOOT,
    SN_SET_SECCOMP,
    SN_SET_FSCONFIG,
    SN_SET_LANDLOCK,
    SN_SET_PRCTL_MM,
    SN_SET_IO_URING,
} sn_call_set;

typedef struct sn_call_row {
    const char *name;
    sn_argument arguments[6];
    uint8_t more;          /**< sn_call_more */
    struct {
        uint8_t set;       /**< sn_call_set */
        uint8_t argument;  /**< which one chooses */
        uint8_t shift;     /**< by so many bits to the right */
        uint32_t mask;     /**< and of these bits only; 0: all 32 */
    } chosen;
} sn_call_row;

/** One case of a set. A value may have several cases, one for each argument. */
typedef struct sn_call_case {
    uint8_t set;
    uint8_t at;            /**< number of the argument that `argument` describes */
    uint32_t value;
    sn_argument argument;
    uint8_t more;          /**< sn_call_more */
} sn_call_case;

/** The row of a call by its number; NULL if the number means none. */
const sn_call_row *sn_call_row_of(uint64_t number);

/** The row of a call by its name. */
const sn_call_row *sn_call_row_named(const char *name);

extern const sn_call_case sn_call_cases[];
extern const size_t sn_call_case_count;

/** Whether there is a case for the value, whatever it says. */
const sn_call_case *sn_call_case_first(sn_call_set set, uint32_t value);

/** What the number means on this architecture, "read"; NULL if nothing (x86_64/system_call_numbers.c). */
const char *sn_system_call_name(uint64_t number);

#endif
