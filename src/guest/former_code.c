/**
 * @fileoverview Places of code, past and present: see former_code.h.
 */
#include "guest/former_code.h"

/** More than a program's libraries and plug-ins: each search for a place goes through all of them. */
enum { PLACES = 1024 };

typedef struct place {
    uint64_t start, end;
    sn_file_identity file;
} place;

static place places[PLACES];
static unsigned count; /**< of all that were ever noted; the latest PLACES are there */

static unsigned there(void) { return count < PLACES ? count : PLACES; }

static bool is_same(sn_file_identity a, sn_file_identity b) {
    return a.device == b.device && a.inode == b.inode && a.inode != 0;
}

void sn_former_code_note(uint64_t start, uint64_t end, sn_file_identity file) {
    for (unsigned i = 0; i < there(); i++) {
        if (places[i].start == start && places[i].end == end && is_same(places[i].file, file)) {
            return;
        }
    }
    places[count++ % PLACES] = (place){.start = start, .end = end, .file = file};
}

uint64_t sn_former_code_place(uint64_t length, sn_file_identity file) {
    for (unsigned age = 1; age <= there(); age++) {
        const place *known = &places[(count - age) % PLACES];
        if (known->end - known->start == length && is_same(known->file, file)) {
            return known->start;
        }
    }
    return 0;
}

uint64_t sn_former_code_obstacle(uint64_t start, uint64_t end, sn_file_identity file) {
    for (unsigned i = 0; i < there(); i++) {
        if (start < places[i].end && end > places[i].start && !is_same(places[i].file, file)) {
            return places[i].end;
        }
    }
    return 0;
}
