/**
 * @fileoverview Uses of labelled bytes, and the report: see taint.h.
 *
 * Uses are noted from the code cache: a table of fixed size under a lock that spins, no libc.
 */
#include <inttypes.h>
#include <sonde/json.h>
#include <sonde/spin.h>
#include <string.h>

#include "taint.h"

typedef struct finding {
    uint64_t address, count;
    const char *name;
    sn_context context;
    uint8_t use, labels;
} finding;

enum { ROOM = 4096 };
static finding findings[ROOM];
static unsigned used;
static uint64_t lost;
static uint32_t lock;

static SN_FAST bool is_same(const finding *a, taint_use use, uint64_t address, sn_context context, const char *name) {
    return a->address == address && a->context == context && a->use == use && a->name == name;
}

SN_FAST void taint_note(taint_use use, uint64_t address, sn_context context, const char *name, unsigned labels) {
    sn_spin_acquire(&lock);
    unsigned at = 0;
    while (at < used && !is_same(&findings[at], use, address, context, name)) at++;
    if (at == used && used < ROOM) {
        used++;
        findings[at].address = address;
        findings[at].context = context;
        findings[at].name = name;
        findings[at].use = (uint8_t)use;
    }
    if (at < used) {
        findings[at].count++;
        findings[at].labels |= (uint8_t)labels;
    } else {
        lost++;
    }
    sn_spin_release(&lock);
}

/* ------------------------------------------------------------------------------------------- report */

static const char *const use_names[TAINT_USES] = {
    [TAINT_JUMP] = "the target of a jump", [TAINT_CALL] = "the target of a call", [TAINT_RETURN] = "a return address",
    [TAINT_ADDRESS] = "an address", [TAINT_FORMAT] = "the format of", [TAINT_SYSTEM_CALL] = "an argument of the system call",
    [TAINT_SINK] = "an argument of",
};
static const char *const use_words[TAINT_USES] = {
    [TAINT_JUMP] = "jump", [TAINT_CALL] = "call", [TAINT_RETURN] = "return", [TAINT_ADDRESS] = "address",
    [TAINT_FORMAT] = "format", [TAINT_SYSTEM_CALL] = "system-call", [TAINT_SINK] = "sink",
};

static void print_finding(FILE *file, const finding *f) {
    fprintf(file, "\n%s%s%s, %" PRIu64 " time%s\n", use_names[f->use], f->name ? " " : "", f->name ? f->name : "", f->count,
            f->count == 1 ? "" : "s");
    sn_context_print(file, f->context, f->address, (unsigned)taint_chosen.callers, "    ");
    for (unsigned i = 0; i < taint_arrival_count; i++) {
        if (!(f->labels >> i & 1)) continue;
        const taint_arrival *from = &taint_arrivals[i];
        fprintf(file, "  from %s%s%s\n", from->source, from->is_several ? ", or from elsewhere" : "",
                from->address ? ", which was read by" : "");
        if (from->address) sn_context_print(file, from->context, from->address, (unsigned)taint_chosen.callers, "    ");
    }
}

static void print_text(FILE *file) {
    fprintf(file, "bytes from outside are used in %u place%s\n", used, used == 1 ? "" : "s");
    for (unsigned i = 0; i < used; i++) print_finding(file, &findings[i]);
    if (lost) fprintf(file, "\n%" PRIu64 " more uses in other places\n", lost);
}

/** Where an instruction is, in its context: the frames from the innermost one. */
static void put_context(sn_json *json, const char *name, sn_context context, uint64_t address) {
    sn_context_info info;
    sn_json_array(json, name);
    for (unsigned depth = 0; address && depth < taint_chosen.callers; depth++) {
        sn_location where = {0};
        sn_locate(address, &where);
        sn_json_object(json, NULL);
        sn_json_number(json, "address", address);
        sn_json_string(json, "function", where.function);
        sn_json_string(json, "file", where.file);
        sn_json_number(json, "line", where.line);
        sn_json_close(json);
        if (!context || !sn_context_describe(context, &info)) break;
        address = info.call_site;
        context = info.caller;
    }
    sn_json_close(json);
}

static void put_finding(sn_json *json, const finding *f) {
    sn_json_object(json, NULL);
    sn_json_string(json, "use", use_words[f->use]);
    sn_json_string(json, "name", f->name);
    sn_json_number(json, "count", f->count);
    put_context(json, "at", f->context, f->address);
    sn_json_array(json, "from");
    for (unsigned i = 0; i < taint_arrival_count; i++) {
        if (!(f->labels >> i & 1)) continue;
        sn_json_object(json, NULL);
        sn_json_string(json, "source", taint_arrivals[i].source);
        sn_json_boolean(json, "several", taint_arrivals[i].is_several);
        put_context(json, "at", taint_arrivals[i].context, taint_arrivals[i].address);
        sn_json_close(json);
    }
    sn_json_close(json);
    sn_json_close(json);
}

static void print_json(FILE *file) {
    sn_json json;
    sn_json_begin(&json, file);
    sn_json_object(&json, NULL);
    sn_json_string(&json, "tool", "taint");
    sn_json_number(&json, "lost", lost);
    sn_json_array(&json, "findings");
    for (unsigned i = 0; i < used; i++) put_finding(&json, &findings[i]);
    sn_json_close(&json);
    sn_json_close(&json);
    sn_json_finish(&json);
}

void taint_report(void) {
    if (taint_chosen.format) print_json(sn_output());
    else print_text(sn_output());
}
