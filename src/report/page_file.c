/**
 * @fileoverview The file of a page. See page_file.h.
 */
#include "report/page_file.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/log.h"
#include "report/page.h"
#include "report/page_text.h"

sn_page_file sn_page_file_begin(const char *path, sn_json *json) {
    size_t size;
    const char *form = sn_page_form(&size);
    const char *mark = memmem(form, size, SN_PAGE_MARK, strlen(SN_PAGE_MARK));
    sn_page_file page = {.path = path, .file = fopen(path, "w"), .rest = mark + strlen(SN_PAGE_MARK)};
    page.rest_size = (size_t)(form + size - page.rest);
    if (page.file == NULL) {
        sn_fail(SN_STATUS_USAGE, "--html: cannot write '%s': %s", path, strerror(errno));
    }
    fwrite(form, 1, (size_t)(mark - form), page.file);
    page.stream = sn_page_text_open(page.file);
    if (page.stream == NULL) {
        sn_fail(SN_STATUS_ENGINE, "out of memory");
    }
    sn_json_begin(json, page.stream);
    sn_json_object(json, NULL);
    return page;
}

void sn_page_file_end(sn_page_file *page, sn_json *json) {
    sn_json_close(json);
    sn_json_finish(json);
    bool has_failed = ferror(page->stream) != 0;
    has_failed |= fclose(page->stream) != 0;
    fwrite(page->rest, 1, page->rest_size, page->file);
    has_failed |= ferror(page->file) != 0;
    if (fclose(page->file) != 0 || has_failed) {
        sn_fail(SN_STATUS_FAILURE, "cannot write '%s': %s", page->path, strerror(errno));
    }
}
