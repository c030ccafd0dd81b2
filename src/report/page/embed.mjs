/**
 * @fileoverview Writes the bundled page as a C file: the function sn_page_form() of src/report/page.h.
 *
 * Usage: node embed.mjs PAGE OUTPUT
 */
import { readFile, writeFile } from "node:fs/promises";

const bytes = await readFile(process.argv[2]);
const rows = [];
for (let at = 0; at < bytes.length; at += 32) rows.push(`    ${[...bytes.subarray(at, at + 32)].join(",")},`);
await writeFile(process.argv[3], `/* Written by src/report/page/embed.mjs: change the page there. */
#include "report/page.h"

static const unsigned char form[] = {
${rows.join("\n")}
    0
};

const char *sn_page_form(size_t *size) {
    *size = sizeof form - 1;
    return (const char *)form;
}
`);
