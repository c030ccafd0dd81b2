/**
 * @fileoverview printf with the client's format and arguments: see request_print.h.
 *
 * The C library's own must not be given pointers of the client: it would fault in the engine's name. So conversions are
 * taken one by one, strings are copied safely, and %n stores nothing.
 */
#include "guest/request_print.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lock.h"
#include "base/log.h"
#include "guest/request.h"
#include "jit/runtime.h"

#define LONGEST_FORMAT 4096
#define LONGEST_STRING 65536
/** "%-08.3l" and what comes behind it. Widths and precisions that are arguments are numbers here. */
typedef struct conversion {
    char flags[8];
    int width, precision; /**< -1: none */
    int size;             /**< bytes of an integer; -1: a long double */
    char kind;
    const char *end;
} conversion;

bool sn_request_string(uint64_t from, char *to, size_t size) {
    for (size_t i = 0; i + 1 < size; i++) {
        if (!sn_copy_safely(to + i, (const void *)(from + i), 1)) return false;
        if (!to[i]) return true;
    }
    to[size - 1] = 0;
    return true;
}

/** A number of the format, or `*` for one of the arguments. */
static const char *take_number(const char *at, va_list *list, int *number) {
    if (*at == '*') {
        *number = va_arg(*list, int);
        return at + 1;
    }
    for (*number = 0; *at >= '0' && *at <= '9'; at++)
        if (*number < 10000) *number = *number * 10 + (*at - '0');
    return at;
}

static const char *take_size(const char *at, int *size) {
    *size = sizeof(int);
    for (; *at && strchr("hlqjztL", *at); at++) {
        if (*at == 'h') *size /= 2;
        else if (*at == 'L') *size = -1;
        else *size = sizeof(long);
    }
    return at;
}

/** Take the conversion that begins behind a percent sign. */
static conversion take_conversion(const char *at, va_list *list) {
    conversion taken = {.width = -1, .precision = -1};
    for (size_t flags = 0; *at && strchr("-+ #0'", *at); at++)
        if (flags + 2 < sizeof taken.flags && !strchr(taken.flags, *at)) taken.flags[flags++] = *at;
    if (*at == '*' || (*at >= '1' && *at <= '9')) at = take_number(at, list, &taken.width);
    if (taken.width < -1) {
        taken.width = taken.width > -10000 ? -taken.width : 10000;
        if (strlen(taken.flags) + 2 < sizeof taken.flags) strcat(taken.flags, "-");
    }
    if (taken.width > 10000) taken.width = 10000;
    if (*at == '.') at = take_number(at + 1, list, &taken.precision);
    if (taken.precision > 10000) taken.precision = 10000;
    at = take_size(at, &taken.size);
    taken.kind = *at;
    taken.end = *at ? at + 1 : at;
    return taken;
}

/** The conversion for the C library, with the length modifier `length`. */
static const char *rebuild(const conversion *of, const char *length, char text[64]) {
    char width[16] = "", precision[16] = "";
    if (of->width >= 0) snprintf(width, sizeof width, "%d", of->width);
    if (of->precision >= 0) snprintf(precision, sizeof precision, ".%d", of->precision);
    snprintf(text, 64, "%%%s%s%s%s%c", of->flags, width, precision, length, of->kind);
    return text;
}

static void print_string(FILE *to, const conversion *of, uint64_t from, const char *spec) {
    size_t most = of->precision >= 0 && of->precision < LONGEST_STRING ? (size_t)of->precision + 1 : LONGEST_STRING;
    char *text = malloc(most);
    if (!text) return;
    if (!from) fprintf(to, spec, "(null)");
    else fprintf(to, spec, sn_request_string(from, text, most) ? text : "(unreadable)");
    free(text);
}

static long long signed_of(long value, int size) {
    return size == 8 ? value : size == 4 ? (int)value : size == 2 ? (short)value : (signed char)value;
}

static unsigned long long unsigned_of(unsigned long value, int size) {
    return size == 8 ? value : size == 4 ? (unsigned)value : size == 2 ? (unsigned short)value : (unsigned char)value;
}

static void print_conversion(FILE *to, const conversion *of, va_list *list) {
    char spec[64];
    switch (of->kind) {
    case 'd':
    case 'i': fprintf(to, rebuild(of, "ll", spec), signed_of(va_arg(*list, long), of->size)); break;
    case 'u':
    case 'o':
    case 'x':
    case 'X': fprintf(to, rebuild(of, "ll", spec), unsigned_of(va_arg(*list, unsigned long), of->size)); break;
    case 'c': fprintf(to, rebuild(of, "", spec), va_arg(*list, int)); break;
    case 's': print_string(to, of, va_arg(*list, uint64_t), rebuild(of, "", spec)); break;
    case 'p': fprintf(to, rebuild(of, "", spec), va_arg(*list, void *)); break;
    case 'e': case 'E': case 'f': case 'F': case 'g': case 'G': case 'a': case 'A':
        if (of->size < 0) fprintf(to, rebuild(of, "L", spec), va_arg(*list, long double));
        else fprintf(to, rebuild(of, "", spec), va_arg(*list, double));
        break;
    case 'n': (void)va_arg(*list, void *); break;
    case '%': fputc('%', to); break;
    default: fputc('?', to);
    }
}

static void print_formatted(FILE *to, const char *format, va_list *list) {
    for (const char *at = format; *at;) {
        if (*at != '%') {
            fputc(*at++, to);
            continue;
        }
        conversion taken = take_conversion(at + 1, list);
        print_conversion(to, &taken, list);
        at = taken.end;
    }
}

/** To the log in one piece, the process number in front of each line; what follows an unended line goes on with it. */
static void write_lines(int process, const char *text) {
    static sn_lock lock;
    static int open_line; /**< of which process */
    char *marked = NULL;
    size_t size;
    FILE *to = open_memstream(&marked, &size);
    if (!to) return;
    sn_lock_acquire(&lock);
    for (; *text; text++) {
        if (open_line != process) fprintf(to, "**%d** ", process);
        open_line = *text == '\n' ? 0 : process;
        fputc(*text, to);
    }
    if (fclose(to) == 0) sn_log_write(marked, size);
    sn_lock_release(&lock);
    free(marked);
}

uint64_t sn_request_print(int process, uint64_t format_at, uint64_t list_at) {
    char format[LONGEST_FORMAT], *text = NULL;
    size_t size;
    va_list list;
    if (!sn_request_string(format_at, format, sizeof format)) return 0;
    if (!sn_request_take_list(list_at, &list)) return 0;
    FILE *to = open_memstream(&text, &size);
    if (!to) return 0;
    print_formatted(to, format, &list);
    if (fclose(to) != 0) size = 0;
    else write_lines(process, text);
    free(text);
    return size;
}
