/**
 * @fileoverview How what is found is written: as text, by report_text.c, or as XML, by report_xml.c. One of the two is `mc_form`.
 */
#ifndef MEMCHECK_REPORT_H
#define MEMCHECK_REPORT_H

#include "memcheck.h"

/** An error that was reported: kept to the end. */
struct mc_error {
    mc_finding finding;
    uint64_t number;         /**< "unique": from 0 on */
    uint64_t count;
    unsigned thread;
    const struct mc_suppression *suppressed; /**< by what; NULL: it is not */
};

/** Totals for the last lines. */
typedef struct mc_summary {
    uint64_t errors, contexts, suppressed, suppressed_contexts;
} mc_summary;

typedef struct mc_report_form {
    void (*begin)(void);
    /** An error is seen for the first time. */
    void (*error)(const mc_error *error);
    /** The error again, in the list at the end: the `index`-th of `count`. May be NULL. */
    void (*listed)(const mc_error *error, uint64_t index, uint64_t count);
    /** The program has ended: what follows was found after it. */
    void (*ended)(void);
    /** A signal that ends the program. */
    void (*signal)(sn_thread *thread, int number, uint64_t address);
    /** Counts of all errors, and of suppressions that were used. */
    void (*counts)(const mc_error *const *errors, size_t count);
    void (*summary)(const mc_summary *summary);
    /** Lines of text that are no error; text only. */
    void (*line)(const char *format, va_list arguments);
    void (*end)(void);
} mc_report_form;

extern const mc_report_form mc_text_form, mc_xml_form;
extern const mc_report_form *mc_form;

/** A line of text, where that is the form; without format an empty one. */
void mc_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** The lines of a stack, where text is the form. */
void mc_print_stack(const mc_stack *stack);

/** Names of kinds: in XML, and in suppressions. */
const char *mc_kind_name(mc_kind kind);
/** "Addr4", "Leak": *extra is a line that belongs to it, or NULL. */
char *mc_suppression_kind(const mc_finding *finding, char **extra);

#endif
