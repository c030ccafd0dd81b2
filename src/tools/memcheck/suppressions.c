/**
 * @fileoverview Suppressions. See suppressions.h.
 *
 * The format is that of Valgrind's manual, 2.5: a name, `tool,...:kind`, for some kinds one more line, and lines that match the
 * error's stack from its innermost function on: `fun:`, `obj:`, `src:` (with a line behind a colon) with `*` and `?`, and `...`
 * for any number of functions.
 */
#include "suppressions.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

typedef enum pattern_kind { ANY_NUMBER, FUNCTION, OBJECT, SOURCE } pattern_kind;

typedef struct pattern {
    pattern_kind kind;
    char *text;
    unsigned line; /**< SOURCE: 0: any */
} pattern;

struct mc_suppression {
    struct mc_suppression *next;
    char *name, *kind; /**< kind: "Addr4" */
    char *detail;      /**< the line that some kinds have; NULL: none */
    unsigned leaks;    /**< "Leak": set of mc_leak_kind */
    pattern *patterns;
    size_t pattern_count, pattern_room;
    const char *file;
    unsigned line;
    uint64_t used, bytes, blocks;
};

static mc_suppression *first, **end = &first;

/* ---------------------------------------------------------------------------------------------------- matching */

/** `*` and `?` only: brackets are characters of C++ names. */
static bool matches(const char *pattern, const char *text) {
    const char *star = NULL, *retry = NULL;
    while (*text != 0) {
        if (*pattern == '*') {
            star = pattern++;
            retry = text;
        } else if (*pattern == '?' || *pattern == *text) {
            pattern++;
            text++;
        } else if (star != NULL) {
            pattern = star + 1;
            text = ++retry;
        } else {
            return false;
        }
    }
    while (*pattern == '*') {
        pattern++;
    }
    return *pattern == 0;
}

static bool matches_frame(const pattern *pattern, const mc_frame *frame) {
    switch (pattern->kind) {
    case FUNCTION:
        return matches(pattern->text, frame->symbol != NULL ? frame->symbol : "???");
    case OBJECT:
        return matches(pattern->text, frame->module != NULL ? frame->module : "???");
    case SOURCE:
        return frame->file != NULL && (matches(pattern->text, frame->file) || matches(pattern->text, frame->path)) &&
               (pattern->line == 0 || pattern->line == frame->line);
    default:
        return false;
    }
}

/** Whether the patterns match the frames from the innermost one on; frames may be left over. */
static bool matches_stack(const pattern *patterns, size_t pattern_count, const mc_frame *frames, size_t frame_count) {
    size_t star = SIZE_MAX, retry = 0, at = 0, pattern = 0;
    while (pattern < pattern_count) {
        if (patterns[pattern].kind == ANY_NUMBER) {
            star = pattern++;
            retry = at;
        } else if (at < frame_count && matches_frame(&patterns[pattern], &frames[at])) {
            pattern++;
            at++;
        } else if (star != SIZE_MAX && retry < frame_count) {
            pattern = star + 1;
            at = ++retry;
        } else {
            return false;
        }
    }
    return true;
}

/** Valgrind's older names count too: "Value4" is "Cond" for none, but "Addr4" matches only accesses of 4 bytes. */
static bool matches_kind(const mc_suppression *suppression, const mc_finding *finding) {
    char *extra, *kind = mc_suppression_kind(finding, &extra);
    bool is_same = strcmp(kind, suppression->kind) == 0 ||
                   (finding->kind == MC_UNDEFINED_CONDITION && strcmp(suppression->kind, "Value0") == 0);
    if (is_same && finding->kind >= MC_LEAK_REACHABLE) {
        is_same = suppression->leaks >> (finding->kind - MC_LEAK_REACHABLE) & 1;
    } else if (is_same && suppression->detail != NULL) {
        is_same = extra != NULL && matches(suppression->detail, extra);
    }
    free(extra);
    free(kind);
    return is_same;
}

const mc_suppression *mc_suppression_of(const mc_finding *finding) {
    enum { MOST_FRAMES = 600 };
    mc_frame *frames = NULL;
    unsigned count = 0;
    mc_suppression *found = NULL;
    for (mc_suppression *at = first; at != NULL && found == NULL; at = at->next) {
        if (!matches_kind(at, finding)) {
            continue;
        }
        if (frames == NULL) {
            frames = malloc(MOST_FRAMES * sizeof *frames);
            count = frames != NULL ? mc_stack_frames(finding->stack, frames, MOST_FRAMES) : 0;
        }
        if (matches_stack(at->patterns, at->pattern_count, frames, count)) {
            found = at;
        }
    }
    free(frames);
    return found;
}

void mc_suppression_used(const mc_suppression *suppression, uint64_t times, uint64_t bytes, uint64_t blocks) {
    mc_suppression *used = (mc_suppression *)suppression;
    used->used += times;
    used->bytes += bytes;
    used->blocks += blocks;
}

void mc_suppressions_visit(void (*visit)(const char *name, uint64_t count, void *data), void *data) {
    for (const mc_suppression *at = first; at != NULL; at = at->next) {
        if (at->used != 0) {
            visit(at->name, at->used, data);
        }
    }
}

void mc_suppressions_list(void) {
    bool is_first = true;
    for (const mc_suppression *at = first; at != NULL; at = at->next) {
        if (at->used == 0) {
            continue;
        }
        if (is_first) {
            mc_line(NULL);
            is_first = false;
        }
        if (at->blocks != 0) {
            mc_line("used_suppression: %6lu %s %s:%u suppressed: %s bytes in %s blocks", at->used, at->name, at->file, at->line,
                    mc_number(at->bytes), mc_number(at->blocks));
        } else {
            mc_line("used_suppression: %6lu %s %s:%u", at->used, at->name, at->file, at->line);
        }
    }
}

/* ----------------------------------------------------------------------------------------------------- reading */

typedef struct reader {
    FILE *file;
    const char *path;
    unsigned line;
    char *text; /**< the line that was read last, without space around it */
    size_t room;
} reader;

static _Noreturn void fail_at(const reader *at, const char *what) {
    sn_fail(2, "--suppressions: %s:%u: %s", at->path, at->line, what);
}

/** The next line that is neither empty nor a comment; false at the end. */
static bool read_line(reader *from) {
    while (getline(&from->text, &from->room, from->file) >= 0) {
        char *start = from->text, *last = start + strlen(start);
        from->line++;
        while (isspace((unsigned char)*start)) {
            start++;
        }
        while (last > start && isspace((unsigned char)last[-1])) {
            last--;
        }
        *last = 0;
        memmove(from->text, start, (size_t)(last - start) + 1);
        if (*from->text != 0 && *from->text != '#') {
            return true;
        }
    }
    return false;
}

static void need_line(reader *from) {
    if (!read_line(from)) {
        fail_at(from, "the file ends inside a suppression");
    }
}

static char *copy(const char *text) {
    char *made = strdup(text);
    if (made == NULL) {
        sn_fail(125, "memcheck: out of memory");
    }
    return made;
}

/** "Memcheck,Other:Addr4": whether it is for this tool; *kind: what is behind the colon. */
static bool is_for_memcheck(reader *from, char **kind) {
    char *colon = strchr(from->text, ':');
    if (colon == NULL) {
        fail_at(from, "'TOOL:KIND' is wanted");
    }
    *colon = 0;
    *kind = copy(colon + 1);
    bool is_ours = false;
    for (char *rest = from->text, *tool; (tool = strsep(&rest, ",")) != NULL;) {
        is_ours |= strcmp(tool, "Memcheck") == 0 || strcmp(tool, "memcheck") == 0 || strcmp(tool, "*") == 0;
    }
    return is_ours;
}

static unsigned leak_kinds_of(reader *from, const char *text) {
    unsigned set = 0;
    if (!mc_parse_leak_kinds(text, &set)) {
        fail_at(from, "'match-leak-kinds:' wants definite, indirect, possible, reachable, all or none");
    }
    return set;
}

/** A line of the stack. False if it is none. */
static bool read_pattern(reader *from, mc_suppression *to) {
    static const struct {
        const char *prefix;
        pattern_kind kind;
    } prefixes[] = {{"fun:", FUNCTION}, {"obj:", OBJECT}, {"src:", SOURCE}};
    pattern read = {.kind = ANY_NUMBER};
    bool is_pattern = strcmp(from->text, "...") == 0;
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        if (strncmp(from->text, prefixes[i].prefix, 4) == 0) {
            read = (pattern){.kind = prefixes[i].kind, .text = copy(from->text + 4)};
            is_pattern = true;
        }
    }
    if (!is_pattern) {
        return false;
    }
    char *colon = read.kind == SOURCE ? strrchr(read.text, ':') : NULL;
    if (colon != NULL) {
        *colon = 0;
        read.line = (unsigned)strtoul(colon + 1, NULL, 10);
    }
    mc_grow(&to->patterns, &to->pattern_room, to->pattern_count + 1, sizeof *to->patterns);
    to->patterns[to->pattern_count++] = read;
    return true;
}

/** Behind the `{`. */
static void read_suppression(reader *from) {
    mc_suppression *read = calloc(1, sizeof *read);
    if (read == NULL) {
        sn_fail(125, "memcheck: out of memory");
    }
    read->file = from->path;
    read->line = from->line;
    read->leaks = (1u << MC_LEAK_KINDS) - 1;
    need_line(from);
    read->name = copy(from->text);
    need_line(from);
    bool is_ours = is_for_memcheck(from, &read->kind);
    need_line(from);
    if (strncmp(from->text, "match-leak-kinds:", 17) == 0) {
        read->leaks = leak_kinds_of(from, from->text + 17 + strspn(from->text + 17, " \t"));
        need_line(from);
    } else if (strcmp(from->text, "}") != 0 && !read_pattern(from, read)) {
        read->detail = copy(from->text);
        need_line(from);
    } else if (read->pattern_count != 0) {
        need_line(from);
    }
    for (; strcmp(from->text, "}") != 0; need_line(from)) {
        if (!read_pattern(from, read) && is_ours) {
            fail_at(from, "'fun:', 'obj:', 'src:', '...' or '}' is wanted");
        }
    }
    if (is_ours && read->pattern_count == 0) {
        fail_at(from, "a suppression without a line of the stack");
    }
    if (is_ours) {
        *end = read;
        end = &read->next;
    }
}

void mc_suppressions_read(const sn_texts *files) {
    for (size_t i = 0; i < files->count; i++) {
        reader from = {.file = fopen(files->items[i], "re"), .path = files->items[i]};
        if (from.file == NULL) {
            sn_fail(2, "--suppressions: cannot read '%s': %s", files->items[i], strerror(errno));
        }
        while (read_line(&from)) {
            if (strcmp(from.text, "{") != 0) {
                fail_at(&from, "'{' is wanted");
            }
            read_suppression(&from);
        }
        free(from.text);
        fclose(from.file);
    }
}

/* ----------------------------------------------------------------------------------------------------- writing */

#define UNNAMED "<insert_a_suppression_name_here>"
#define MOST_WRITTEN 24 /* lines of a stack that Valgrind takes */

/** The line for a frame: `fun:`, `obj:` or `obj:*`. */
static void write_frame(FILE *file, const mc_frame *frame, bool is_xml) {
    const char *kind = frame->symbol != NULL ? "fun" : "obj";
    const char *text = frame->symbol != NULL ? frame->symbol : frame->module != NULL ? frame->module : "*";
    if (is_xml) {
        fprintf(file, "    <sframe> <%s>", kind);
        mc_write_escaped(file, text);
        fprintf(file, "</%s> </sframe>\n", kind);
    } else {
        fprintf(file, "   %s:%s\n", kind, text);
    }
}

static void write_frames(FILE *file, const mc_finding *finding, bool is_xml) {
    mc_frame frames[MOST_WRITTEN];
    unsigned count = mc_stack_frames(finding->stack, frames, MOST_WRITTEN);
    for (unsigned i = 0; i < count; i++) {
        if (frames[i].symbol != NULL && strcmp(frames[i].symbol, "(below main)") == 0) {
            continue;
        }
        write_frame(file, &frames[i], is_xml);
    }
}

void mc_suppression_write(FILE *file, const mc_finding *finding) {
    char *extra, *kind = mc_suppression_kind(finding, &extra);
    fprintf(file, "{\n   %s\n   Memcheck:%s\n", UNNAMED, kind);
    if (extra != NULL) {
        fprintf(file, "   %s\n", extra);
    }
    write_frames(file, finding, false);
    fprintf(file, "}\n");
    free(extra);
    free(kind);
}

void mc_write_escaped(FILE *file, const char *text) {
    for (; *text != 0; text++) {
        switch (*text) {
        case '&': fputs("&amp;", file); break;
        case '<': fputs("&lt;", file); break;
        case '>': fputs("&gt;", file); break;
        default: fputc((unsigned char)*text < ' ' && *text != '\n' && *text != '\t' ? '?' : *text, file);
        }
    }
}

void mc_suppression_write_xml(FILE *file, const mc_finding *finding) {
    char *extra, *kind = mc_suppression_kind(finding, &extra);
    fprintf(file, "  <suppression>\n    <sname>&lt;insert_a_suppression_name_here&gt;</sname>\n    <skind>Memcheck:%s</skind>\n", kind);
    if (extra != NULL) {
        fprintf(file, "    <skaux>");
        mc_write_escaped(file, extra);
        fprintf(file, "</skaux>\n");
    }
    write_frames(file, finding, true);
    fprintf(file, "    <rawtext>\n<![CDATA[\n");
    mc_suppression_write(file, finding);
    fprintf(file, "]]>\n    </rawtext>\n  </suppression>\n");
    free(extra);
    free(kind);
}
