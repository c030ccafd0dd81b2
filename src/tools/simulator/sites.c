/**
 * @fileoverview Tables of sites, in two steps: chapters, and pages of counters in them; and by hash where contexts are told
 * apart, as few sites are executed in each. See sites.h.
 */
#include "sites.h"

#include <stdatomic.h>
#include <stdlib.h>

#include <sonde/tool.h>

#include "memory.h"
#include "words.h"

enum { PAGE_BITS = 7, CHAPTER_BITS = 11, CHAPTERS_BITS = 14 };
enum { PAGE_SITES = 1 << PAGE_BITS, CHAPTER_PAGES = 1 << CHAPTER_BITS, CHAPTERS = 1 << CHAPTERS_BITS };

typedef struct page {
    uint64_t counters[PAGE_SITES][CACHE_SITE_COUNTERS];
} page;

typedef struct cache_site_chapter {
    page *pages[CHAPTER_PAGES];
} cache_site_chapter;

/** Memory for pages, one behind the other. The first block of a table is small: most have no other. */
typedef struct cache_site_block {
    struct cache_site_block *older;
    uint32_t used, room;
    page pages[];
} cache_site_block;

enum { FIRST_PAGES = 16, WIDE_BLOCK = 2 << 20 };

static page *page_new(cache_sites *sites) {
    cache_site_block *block = sites->blocks;
    if (block == NULL || block->used == block->room) {
        bool is_first = block == NULL;
        cache_site_block *new = is_first ? cache_memory_new(1, sizeof *new + FIRST_PAGES * sizeof *new->pages)
                                         : cache_memory_wide_new(WIDE_BLOCK);
        new->older = block;
        new->room = is_first ? FIRST_PAGES : (uint32_t)((WIDE_BLOCK - sizeof *new) / sizeof *new->pages);
        sites->blocks = block = new;
    }
    return &block->pages[block->used++];
}

static void free_blocks(cache_sites *sites) {
    for (cache_site_block *block = sites->blocks, *older; block != NULL; block = older) {
        older = block->older;
        if (older == NULL) {
            free(block);
        } else {
            cache_memory_wide_release(block, WIDE_BLOCK);
        }
    }
}

static uint32_t sites_used;

uint32_t cache_sites_new(uint32_t count) {
    uint32_t first = sites_used;
    if (count > CACHE_WORD_NUMBERS - sites_used) {
        sn_fail(125, "too much code to simulate");
    }
    sites_used += count;
    return first;
}

/** What *place points to, made if it is not there: readers see it only when it is complete. */
#define made(place)                                                                                       \
    ({                                                                                                    \
        __typeof__(*(place)) made_found = *(place);                                                       \
        if (made_found == NULL) {                                                                         \
            made_found = cache_memory_new(1, sizeof *made_found);                                         \
            __atomic_store_n((place), made_found, __ATOMIC_RELEASE);                                      \
        }                                                                                                 \
        made_found;                                                                                       \
    })

/** What is known of a site. */
typedef struct place {
    uint64_t address;
    uint32_t segment;
    cache_segment_size rest;
} place;

/** That of all sites, in parts. A part is there before a trace can name one of its sites. */
enum { PART_BITS = 14, PARTS = 1 << (32 - PART_BITS) };
static place (*places[PARTS])[1 << PART_BITS];

static place *place_of(uint32_t site) {
    return &(*places[site >> PART_BITS])[site & ((1 << PART_BITS) - 1)];
}

void cache_site_set_address(uint32_t site, uint64_t address) {
    made(&places[site >> PART_BITS]);
    place_of(site)->address = address;
}

void cache_site_set_segment(uint32_t site, uint32_t segment, cache_segment_size rest) {
    place_of(site)->segment = segment;
    place_of(site)->rest = rest;
}

uint64_t cache_site_address(uint32_t site) {
    return place_of(site)->address;
}

uint32_t cache_site_segment(uint32_t site) {
    return places[site >> PART_BITS] == NULL ? 0 : place_of(site)->segment;
}

cache_segment_size cache_site_rest(uint32_t site) {
    return place_of(site)->rest;
}

static uint64_t *counters_apart(cache_sites *sites, uint32_t context, uint32_t site) {
    cache_site_apart *found = sn_table_insert(&sites->apart, ((cache_site_key){context, site}), NULL);
    if (found->counters == NULL) {
        found->counters = sn_arena_allocate(&sites->apart_counters, CACHE_SITE_COUNTERS * sizeof *found->counters);
    }
    return found->counters;
}

uint64_t *cache_site_counters_in(cache_sites *sites, uint32_t context, uint32_t site) {
    if (context != 0) {
        return counters_apart(sites, context, site);
    }
    if (sites->chapters == NULL) {
        __atomic_store_n(&sites->chapters, cache_memory_new(CHAPTERS, sizeof *sites->chapters), __ATOMIC_RELEASE);
    }
    cache_site_chapter *chapter = made(&sites->chapters[site >> (PAGE_BITS + CHAPTER_BITS)]);
    page **place = &chapter->pages[site >> PAGE_BITS & (CHAPTER_PAGES - 1)];
    if (*place == NULL) {
        __atomic_store_n(place, page_new(sites), __ATOMIC_RELEASE);
    }
    return (*place)->counters[site & (PAGE_SITES - 1)];
}

static const uint64_t *find_apart(const cache_sites *sites, uint32_t context, uint32_t site) {
    const cache_site_apart *found = sn_table_find(&sites->apart, ((cache_site_key){context, site}));
    return found == NULL ? NULL : found->counters;
}

const uint64_t *cache_site_find_in(const cache_sites *sites, uint32_t context, uint32_t site) {
    sites = sites->joined != NULL ? sites->joined : sites;
    if (context != 0) {
        return find_apart(sites, context, site);
    }
    cache_site_chapter **chapters = __atomic_load_n(&sites->chapters, __ATOMIC_ACQUIRE);
    cache_site_chapter *chapter =
        chapters == NULL ? NULL : __atomic_load_n(&chapters[site >> (PAGE_BITS + CHAPTER_BITS)], __ATOMIC_ACQUIRE);
    page *page = chapter == NULL
                     ? NULL
                     : __atomic_load_n(&chapter->pages[site >> PAGE_BITS & (CHAPTER_PAGES - 1)], __ATOMIC_ACQUIRE);
    return page == NULL ? NULL : page->counters[site & (PAGE_SITES - 1)];
}

static void add_page(cache_sites *to, const page *from, uint32_t first_site) {
    uint64_t *sums = cache_site_counters_in(to, 0, first_site);
    const uint64_t *counters = from->counters[0];
    for (unsigned i = 0; i < PAGE_SITES * CACHE_SITE_COUNTERS; i++) {
        sums[i] += __atomic_load_n(&counters[i], __ATOMIC_RELAXED);
    }
}

static void add_apart(cache_sites *to, const cache_sites *from) {
    sn_table_prepare(&to->apart, sn_table_count(&from->apart));
    sn_table_each(&from->apart, added) {
        uint64_t *sums = cache_site_counters_in(to, (uint32_t)added->key.context, (uint32_t)added->key.site);
        for (unsigned i = 0; i < CACHE_SITE_COUNTERS; i++) {
            sums[i] += added->counters[i];
        }
    }
}

static bool is_empty(const cache_sites *sites) {
    return sites->joined == NULL && __atomic_load_n(&sites->chapters, __ATOMIC_ACQUIRE) == NULL && sn_table_count(&sites->apart) == 0;
}

/** Have of its own what is joined. */
static void separate(cache_sites *sites) {
    const cache_sites *joined = sites->joined;
    sites->joined = NULL;
    if (joined != NULL) {
        cache_sites_add(sites, joined);
    }
}

void cache_sites_join(cache_sites *to, const cache_sites *from) {
    if (is_empty(to)) {
        to->joined = from->joined != NULL ? from->joined : from;
    } else if (!is_empty(from)) {
        cache_sites_add(to, from);
    }
}

void cache_sites_add(cache_sites *to, const cache_sites *from) {
    from = from->joined != NULL ? from->joined : from;
    separate(to);
    add_apart(to, from);
    cache_site_chapter **chapters = __atomic_load_n(&from->chapters, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; chapters != NULL && i < CHAPTERS; i++) {
        const cache_site_chapter *chapter = __atomic_load_n(&chapters[i], __ATOMIC_ACQUIRE);
        for (uint32_t k = 0; chapter != NULL && k < CHAPTER_PAGES; k++) {
            const page *page = __atomic_load_n(&chapter->pages[k], __ATOMIC_ACQUIRE);
            if (page != NULL) {
                add_page(to, page, (i << CHAPTER_BITS | k) << PAGE_BITS);
            }
        }
    }
}

void cache_sites_free(cache_sites *sites) {
    for (uint32_t i = 0; sites->chapters != NULL && i < CHAPTERS; i++) {
        free(sites->chapters[i]);
    }
    free(sites->chapters);
    free_blocks(sites);
    sn_table_release(&sites->apart);
    sn_arena_release(&sites->apart_counters);
    *sites = (cache_sites){.context = sites->context};
}
