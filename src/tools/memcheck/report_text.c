/**
 * @fileoverview What is found, as text: lines as users of Valgrind know them, each behind `==PID== `. See report.h.
 *
 * An error is written in one piece, so that those of several processes do not mix.
 */
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "address.h"
#include "report.h"
#include "suppressions.h"

#define MOST_FRAMES (2 * MC_MOST_CALLERS)

/** A piece of text that is being made. */
typedef struct page {
    FILE *file;
    char *text;
    size_t size;
} page;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned last_thread = 1; /* the one that errors were of last */

/** The page stays where it is until it is closed. */
static void page_open(page *to) {
    *to = (page){0};
    to->file = open_memstream(&to->text, &to->size);
    if (to->file == NULL) {
        sn_fail(125, "memcheck: out of memory");
    }
}

static void page_close(page *from) {
    fclose(from->file);
    pthread_mutex_lock(&lock);
    fwrite(from->text, 1, from->size, sn_output());
    fflush(sn_output());
    pthread_mutex_unlock(&lock);
    free(from->text);
}

static void put(FILE *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(FILE *file, const char *format, ...) {
    va_list arguments;
    fprintf(file, "==%d== ", (int)getpid());
    va_start(arguments, format);
    vfprintf(file, format, arguments);
    va_end(arguments);
    fputc('\n', file);
}

static void put_frame(FILE *file, const mc_frame *frame, bool is_first) {
    const char *function = frame->function != NULL ? frame->function : "???";
    const char *word = is_first ? "at" : "by";
    if (frame->file != NULL && frame->line != 0) {
        put(file, "   %s 0x%lX: %s (%s:%u)", word, frame->address, function, frame->file, frame->line);
    } else if (frame->module != NULL) {
        put(file, "   %s 0x%lX: %s (in %s)", word, frame->address, function, frame->module);
    } else {
        put(file, "   %s 0x%lX: %s", word, frame->address, function);
    }
}

static void put_stack(FILE *file, const mc_stack *stack) {
    mc_frame *frames = malloc(MOST_FRAMES * sizeof *frames);
    unsigned count = frames != NULL ? mc_stack_frames(stack, frames, MOST_FRAMES) : 0;
    for (unsigned i = 0; i < count; i++) {
        put_frame(file, &frames[i], i == 0);
    }
    free(frames);
}

static void put_error(FILE *file, const mc_error *error) {
    const mc_finding *finding = &error->finding;
    put(file, "%s", finding->what);
    put_stack(file, finding->stack);
    for (unsigned i = 0; i < finding->note_count; i++) {
        if (finding->notes[i].text != NULL) {
            put(file, " %s", finding->notes[i].text);
        }
        put_stack(file, finding->notes[i].stack);
    }
    put(file, "%s", "");
    if (mc_current.generate == MC_GENERATE_ALL) {
        mc_suppression_write(file, finding);
    }
}

static void write_error(const mc_error *error) {
    page text;
    page_open(&text);
    if (error->thread != last_thread && error->finding.kind < MC_LEAK_REACHABLE) {
        put(text.file, "Thread %u:", error->thread);
        last_thread = error->thread;
    }
    put_error(text.file, error);
    page_close(&text);
}

static void write_listed(const mc_error *error, uint64_t index, uint64_t count) {
    page text;
    page_open(&text);
    put(text.file, "%s", "");
    put(text.file, "%lu errors in context %lu of %lu:", error->count, index, count);
    put_error(text.file, error);
    page_close(&text);
}

static void write_line(const char *format, va_list arguments) {
    if (sn_verbosity() < 0) {
        return;
    }
    page text;
    page_open(&text);
    fprintf(text.file, "==%d== ", (int)getpid());
    if (format != NULL) {
        vfprintf(text.file, format, arguments);
    }
    fputc('\n', text.file);
    page_close(&text);
}

static void begin(void) {
    const char *const *words;
    int count = sn_client_arguments(&words);
    if (sn_verbosity() < 0) {
        return;
    }
    page text;
    page_open(&text);
    put(text.file, "Memcheck, a memory error detector");
    put(text.file, "Sonde's; sonde memcheck --help lists its options");
    fprintf(text.file, "==%d== Command:", (int)getpid());
    for (int i = 0; i < count; i++) {
        fprintf(text.file, " %s", words[i]);
    }
    fputc('\n', text.file);
    put(text.file, "%s", "");
    page_close(&text);
}

static void write_signal(sn_thread *thread, int number, uint64_t address) {
    mc_line(NULL);
    mc_line("Process terminating with default action of signal %d (SIG%s)", number,
            sigabbrev_np(number) != NULL ? sigabbrev_np(number) : "?");
    mc_print_stack(mc_stack_of(sn_context_of(thread), address));
}

static void write_summary(const mc_summary *summary) {
    mc_line("ERROR SUMMARY: %lu errors from %lu contexts (suppressed: %lu from %lu)", summary->errors, summary->contexts,
            summary->suppressed, summary->suppressed_contexts);
}

static void ended(void) {}
static void counts(const mc_error *const *errors, size_t count) { (void)errors, (void)count; }
static void end(void) { fflush(sn_output()); }

const mc_report_form mc_text_form = {
    .begin = begin, .error = write_error, .listed = write_listed, .ended = ended, .signal = write_signal, .counts = counts,
    .summary = write_summary, .line = write_line, .end = end,
};

const mc_report_form *mc_form = &mc_text_form;

void mc_line(const char *format, ...) {
    va_list arguments;
    if (mc_form->line == NULL) {
        return;
    }
    va_start(arguments, format);
    mc_form->line(format, arguments);
    va_end(arguments);
}

void mc_print_stack(const mc_stack *stack) {
    if (mc_form != &mc_text_form || sn_verbosity() < 0) {
        return;
    }
    page text;
    page_open(&text);
    put_stack(text.file, stack);
    page_close(&text);
}
