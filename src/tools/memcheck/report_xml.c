/**
 * @fileoverview What is found, as XML: protocol 4 of Valgrind (docs/internals/xml-output-protocol4.txt). See report.h.
 *
 * Goes to the file that --xml-file names, else to the tool's output. Every part is written at once, so that a reader beside the run
 * sees whole elements.
 */
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "report.h"
#include "suppressions.h"

#define MOST_FRAMES (2 * MC_MOST_CALLERS)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *file;
static bool is_own; /* else it is the tool's output */
static struct timespec started;

static void element(const char *indent, const char *name, const char *text) {
    fprintf(file, "%s<%s>", indent, name);
    mc_write_escaped(file, text);
    fprintf(file, "</%s>\n", name);
}

static void put_folder(const char *path) {
    const char *slash = strrchr(path, '/');
    if (slash != NULL && slash != path) {
        char *folder = mc_text("%.*s", (int)(slash - path), path);
        element("      ", "dir", folder);
        free(folder);
    }
}

static void put_frame(const mc_frame *frame) {
    fprintf(file, "    <frame>\n      <ip>0x%lX</ip>\n", frame->address);
    if (frame->module != NULL) {
        element("      ", "obj", frame->module);
    }
    if (frame->function != NULL) {
        element("      ", "fn", frame->function);
    }
    if (frame->file != NULL) {
        put_folder(frame->path);
        element("      ", "file", frame->file);
    }
    if (frame->line != 0) {
        fprintf(file, "      <line>%u</line>\n", frame->line);
    }
    fputs("    </frame>\n", file);
}

static void put_stack(const mc_stack *stack) {
    mc_frame *frames = malloc(MOST_FRAMES * sizeof *frames);
    unsigned count = frames != NULL ? mc_stack_frames(stack, frames, MOST_FRAMES) : 0;
    if (count != 0) {
        fputs("  <stack>\n", file);
        for (unsigned i = 0; i < count; i++) {
            put_frame(&frames[i]);
        }
        fputs("  </stack>\n", file);
    }
    free(frames);
}

static void put_what(const mc_finding *finding) {
    if (finding->kind < MC_LEAK_REACHABLE) {
        element("  ", "what", finding->what);
        return;
    }
    fputs("  <xwhat>\n", file);
    element("    ", "text", finding->what);
    fprintf(file, "    <leakedbytes>%lu</leakedbytes>\n    <leakedblocks>%lu</leakedblocks>\n  </xwhat>\n", finding->size,
            finding->blocks);
}

static void write_error(const mc_error *error) {
    const mc_finding *finding = &error->finding;
    pthread_mutex_lock(&lock);
    fprintf(file, "<error>\n  <unique>0x%lx</unique>\n  <tid>%u</tid>\n  <kind>%s</kind>\n", error->number, error->thread,
            mc_kind_name(finding->kind));
    put_what(finding);
    put_stack(finding->stack);
    for (unsigned i = 0; i < finding->note_count; i++) {
        if (finding->notes[i].text != NULL) {
            element("  ", "auxwhat", finding->notes[i].text);
        }
        put_stack(finding->notes[i].stack);
    }
    if (mc_current.generate == MC_GENERATE_ALL) {
        mc_suppression_write_xml(file, finding);
    }
    fputs("</error>\n\n", file);
    fflush(file);
    pthread_mutex_unlock(&lock);
}

static void put_status(const char *state) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t milliseconds = (now.tv_sec - started.tv_sec) * 1000 + (now.tv_nsec - started.tv_nsec) / 1000000;
    int64_t seconds = milliseconds / 1000;
    fprintf(file, "<status>\n  <state>%s</state>\n  <time>%02ld:%02ld:%02ld:%02ld.%03ld </time>\n</status>\n\n", state, seconds / 86400,
            seconds / 3600 % 24, seconds / 60 % 60, seconds % 60, milliseconds % 1000);
}

static void put_words(const char *name, const char *const *words, int count) {
    fprintf(file, "  <%s>\n", name);
    for (int i = 0; i < count; i++) {
        element("    ", i == 0 ? "exe" : "arg", words[i]);
    }
    fprintf(file, "  </%s>\n", name);
}

static void begin(void) {
    static const char *const own_words[] = {"sonde", "memcheck"};
    const char *const *words;
    int count = sn_client_arguments(&words);
    clock_gettime(CLOCK_MONOTONIC, &started);
    is_own = mc_current.xml_file != NULL;
    file = is_own ? sn_file_create(mc_current.xml_file) : sn_output();
    if (file == NULL) {
        sn_fail(2, "--xml-file: no file");
    }
    fputs("<?xml version=\"1.0\"?>\n\n<valgrindoutput>\n\n<protocolversion>4</protocolversion>\n"
          "<protocoltool>memcheck</protocoltool>\n\n<preamble>\n  <line>Memcheck, a memory error detector</line>\n"
          "  <line>Sonde's; sonde memcheck --help lists its options</line>\n</preamble>\n\n", file);
    fprintf(file, "<pid>%d</pid>\n<ppid>%d</ppid>\n<tool>memcheck</tool>\n\n", (int)getpid(), (int)getppid());
    if (mc_current.xml_user_comment != NULL) {
        fprintf(file, "<usercomment>%s</usercomment>\n\n", mc_current.xml_user_comment);
    }
    fputs("<args>\n", file);
    put_words("vargv", own_words, 2);
    put_words("argv", words, count);
    fputs("</args>\n\n", file);
    put_status("RUNNING");
    fflush(file);
}

static void ended(void) {
    put_status("FINISHED");
    fflush(file);
}

static void write_signal(sn_thread *thread, int number, uint64_t address) {
    const char *name = sigabbrev_np(number);
    fprintf(file, "<fatal_signal>\n  <tid>%u</tid>\n  <signo>%d</signo>\n  <signame>SIG%s</signame>\n  <sicode>0</sicode>\n",
            mc_thread_number(thread), number, name != NULL ? name : "?");
    put_stack(mc_stack_of(sn_context_of(thread), address));
    fputs("</fatal_signal>\n\n", file);
    fflush(file);
}

static void put_suppression_count(const char *name, uint64_t count, void *data) {
    (void)data;
    fprintf(file, "  <pair>\n    <count>%lu</count>\n", count);
    element("    ", "name", name);
    fputs("  </pair>\n", file);
}

static void write_counts(const mc_error *const *errors, size_t count) {
    fputs("<errorcounts>\n", file);
    for (size_t i = count; i-- > 0;) {
        if (errors[i]->suppressed == NULL) {
            fprintf(file, "  <pair>\n    <count>%lu</count>\n    <unique>0x%lx</unique>\n  </pair>\n", errors[i]->count, errors[i]->number);
        }
    }
    fputs("</errorcounts>\n\n<suppcounts>\n", file);
    mc_suppressions_visit(put_suppression_count, NULL);
    fputs("</suppcounts>\n\n", file);
}

static void write_summary(const mc_summary *summary) { (void)summary; }

static void end(void) {
    fputs("</valgrindoutput>\n\n", file);
    if (is_own) {
        sn_file_close(file);
    } else {
        fflush(file);
    }
}

const mc_report_form mc_xml_form = {
    .begin = begin, .error = write_error, .ended = ended, .signal = write_signal, .counts = write_counts, .summary = write_summary,
    .end = end,
};
