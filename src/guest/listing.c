/**
 * @fileoverview Cleaning listings of folders: see listing.h.
 *
 * What is read here is client memory: another thread may change or unmap it meanwhile, which must not harm the engine.
 */
#include "guest/listing.h"

#include <stddef.h>
#include <string.h>

#include "guest/procfs.h"
#include "jit/runtime.h"

/** Records of both calls begin alike (linux_dirent, linux_dirent64): number, position, length; the name follows, in the
    wide form behind a byte for the type. A descriptor's name is short. */
typedef struct record_start {
    uint64_t number, position;
    uint16_t length;
    char rest[14];
} record_start;

enum { NAME_OFFSET = offsetof(record_start, rest) };

/** Copy the start of the record at `address`; false if there is none that makes sense. */
static bool read_record(uint64_t address, uint64_t room, record_start *record) {
    memset(record, 0, sizeof *record);
    if (room < NAME_OFFSET || !sn_copy_safely(record, (const void *)address, NAME_OFFSET)) return false;
    uint64_t more = record->length - (uint64_t)NAME_OFFSET;
    if (record->length < NAME_OFFSET || record->length > room) return false;
    if (more > sizeof record->rest) more = sizeof record->rest;
    return sn_copy_safely(record->rest, (const void *)(address + NAME_OFFSET), more);
}

/** The record's name, if it is short enough to be a descriptor's. */
static const char *short_name(const record_start *record, bool wide) {
    const char *name = record->rest + wide;
    return memchr(name, 0, sizeof record->rest - wide) ? name : NULL;
}

uint64_t sn_listing_clean(int directory, bool wide, uint64_t address, uint64_t size) {
    uint64_t at = 0;
    record_start record;
    while (at < size && read_record(address + at, size - at, &record)) {
        const char *name = short_name(&record, wide);
        if (!name || !sn_procfs_hides_entry(directory, name)) {
            at += record.length;
            continue;
        }
        uint64_t behind = size - at - record.length;
        /* Downwards, byte after byte: source and destination may overlap. */
        if (!sn_copy_safely((void *)(address + at), (const void *)(address + at + record.length), behind)) return size;
        size -= record.length;
    }
    return size;
}
