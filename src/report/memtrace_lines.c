/**
 * @fileoverview A trace, access by access: as lines that Valgrind's Lackey could have printed, or as JSON.
 */
#include <string.h>

#include "report/memtrace.h"
#include "sonde/json.h"
#include "tools/memtrace/lines.h"

enum { BUFFER = 1 << 16 };

typedef struct printer {
    const sn_memtrace_process *process;
    uint32_t thread;
    size_t used;
    char buffer[BUFFER];
} printer;

static void flush(printer *printer) {
    fwrite(printer->buffer, 1, printer->used, stdout);
    printer->used = 0;
}

static void print_line(void *data, const sn_memtrace_event *event) {
    printer *printer = data;
    if (printer->used + 2 * MEMTRACE_LONGEST_LINE > BUFFER)
        flush(printer);
    char *end = printer->buffer + printer->used;
    if (printer->process && (printer->process != event->process || printer->thread != event->thread))
        end = memtrace_put_thread_line(end, event->thread);
    printer->process = event->process;
    printer->thread = event->thread;
    end = memtrace_put_line(end, event->kind, event->address, event->size);
    printer->used = (size_t)(end - printer->buffer);
}

const char *sn_memtrace_print_lines(sn_memtrace_reader *reader, FILE *stream) {
    static printer printer;
    const char *wrong = sn_memtrace_read(reader, stream, &(sn_memtrace_listener){NULL, print_line, &printer});
    flush(&printer);
    return wrong;
}

/* ----------------------------------------------------------------------- JSON */

static void print_event(void *data, const sn_memtrace_event *event) {
    static const char *const kinds[] = {"fetch", "load", "store", "modify"};
    sn_json *json = data;
    sn_json_object(json, NULL);
    sn_json_string(json, "kind", kinds[event->kind]);
    sn_json_number(json, "address", event->address);
    sn_json_number(json, "size", event->size);
    sn_json_number(json, "code", event->site->address);
    sn_json_string(json, "function", event->site->function);
    sn_json_string(json, "file", event->site->file);
    sn_json_number(json, "line", event->site->line);
    if (event->site->kind == MEMTRACE_SYSTEM)
        sn_json_string(json, "system call", event->site->system_call);
    sn_json_number(json, "process", event->process->id);
    sn_json_number(json, "thread", event->thread);
    sn_json_close(json);
}

const char *sn_memtrace_print_events(sn_memtrace_reader *reader, FILE *stream, const char *file) {
    sn_json json;
    sn_json_begin(&json, stdout);
    sn_json_object(&json, NULL);
    sn_json_string(&json, "file", file);
    sn_json_array(&json, "accesses");
    const char *wrong = sn_memtrace_read(reader, stream, &(sn_memtrace_listener){NULL, print_event, &json});
    sn_json_close(&json);
    sn_json_string(&json, "incomplete", wrong);
    sn_json_close(&json);
    sn_json_finish(&json);
    return wrong;
}
