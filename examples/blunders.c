/** @fileoverview What sonde memcheck finds: docs/memcheck.md shows its report on this program. */
#include <stdlib.h>
#include <string.h>

struct list {
    struct list *next;
    int value;
};

static struct list *push(struct list *head, int value) {
    struct list *made = malloc(sizeof *made);
    made->next = head;
    made->value = value;
    return made;
}

static int sum(const struct list *head) {
    int total = 0;
    for (; head; head = head->next) total += head->value;
    return total;
}

int main(void) {
    struct list *head = push(push(NULL, 1), 2);
    int total = sum(head);
    head = NULL; /* nobody points to the list any more */
    char *text = malloc(8);
    strcpy(text, "eight...");
    free(text);
    free(text);
    return total != 3;
}
