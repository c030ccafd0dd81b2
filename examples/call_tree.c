/* @fileoverview A program for the page of the manual about `sonde calls`: a small calculator that spends its time where one would not
   look. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct word {
    char text[16];
    unsigned count;
};

static struct word words[2000];
static unsigned used;

static int is_same(const char *a, const char *b) { return strcmp(a, b) == 0; }

/* A list that is searched from its start each time. */
static struct word *find(const char *text) {
    for (unsigned i = 0; i < used; i++)
        if (is_same(words[i].text, text)) return &words[i];
    return NULL;
}

static void note(const char *text) {
    struct word *word = find(text);
    if (word == NULL) {
        word = &words[used++];
        strcpy(word->text, text);
    }
    word->count++;
}

static unsigned most(void) {
    unsigned best = 0;
    for (unsigned i = 0; i < used; i++)
        if (words[i].count > words[best].count) best = i;
    return best;
}

int main(void) {
    unsigned seed = 1;
    for (int i = 0; i < 20000; i++) {
        char text[16];
        seed = seed * 1103515245 + 12345;
        snprintf(text, sizeof text, "w%u", (seed >> 16) % 500);
        note(text);
    }
    printf("%u words, most often %s\n", used, words[most()].text);
    return 0;
}
