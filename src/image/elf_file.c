/**
 * @fileoverview Maps ELF files and finds their separate debug files. See elf_file.h.
 */
#include "image/elf_file.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEBUG_FOLDER "/usr/lib/debug"

enum { PATH_SIZE = 4096 };

/** Writable in memory only: libelf may convert in place. */
static void *map_file(const char *path, size_t *size) {
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat status;
    void *bytes = MAP_FAILED;
    if (descriptor >= 0 && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_size >= (off_t)sizeof(Elf64_Ehdr)) {
        *size = (size_t)status.st_size;
        bytes = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_PRIVATE, descriptor, 0);
    }
    if (descriptor >= 0) {
        close(descriptor);
    }
    return bytes == MAP_FAILED ? NULL : bytes;
}

static bool is_readable_elf(Elf *elf) {
    GElf_Ehdr header;
    return elf != NULL && elf_kind(elf) == ELF_K_ELF && gelf_getclass(elf) == ELFCLASS64 &&
           gelf_getehdr(elf, &header) != NULL && header.e_ident[EI_DATA] == ELFDATA2LSB;
}

sn_elf_file *sn_elf_file_open(const char *path) {
    elf_version(EV_CURRENT);
    sn_elf_file *file = calloc(1, sizeof *file);
    if (file == NULL) {
        return NULL;
    }
    file->path = strdup(path);
    file->bytes = map_file(path, &file->size);
    if (file->bytes != NULL) {
        file->elf = elf_memory(file->bytes, file->size);
    }
    if (file->path == NULL || !is_readable_elf(file->elf)) {
        sn_elf_file_close(file);
        return NULL;
    }
    return file;
}

void sn_elf_file_close(sn_elf_file *file) {
    if (file == NULL) {
        return;
    }
    if (file->elf != NULL) {
        elf_end(file->elf);
    }
    if (file->bytes != NULL) {
        munmap(file->bytes, file->size);
    }
    free(file->path);
    free(file);
}

Elf_Scn *sn_elf_file_section(const sn_elf_file *file, const char *name, uint32_t type, GElf_Shdr *header) {
    size_t names;
    if (elf_getshdrstrndx(file->elf, &names) != 0) {
        return NULL;
    }
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(file->elf, section)) != NULL) {
        if (gelf_getshdr(section, header) == NULL) {
            continue;
        }
        const char *found = name == NULL ? NULL : elf_strptr(file->elf, names, header->sh_name);
        if (name == NULL ? header->sh_type == type : found != NULL && strcmp(found, name) == 0) {
            return section;
        }
    }
    return NULL;
}

bool sn_elf_file_next_segment(const sn_elf_file *file, size_t *next, GElf_Phdr *header) {
    size_t count;
    if (elf_getphdrnum(file->elf, &count) != 0) {
        return false;
    }
    while (*next < count && *next < INT32_MAX) {
        if (gelf_getphdr(file->elf, (int)(*next)++, header) != NULL && header->p_type == PT_LOAD) {
            return true;
        }
    }
    return false;
}

Elf_Data *sn_elf_section_data(Elf_Scn *section) {
    GElf_Shdr header;
    if (section == NULL || gelf_getshdr(section, &header) == NULL || header.sh_type == SHT_NOBITS) {
        return NULL;
    }
    if ((header.sh_flags & SHF_COMPRESSED) != 0 && elf_compress(section, 0, 0) < 0) {
        return NULL;
    }
    Elf_Data *data = elf_getdata(section, NULL);
    return data == NULL || data->d_buf == NULL ? NULL : data;
}

sn_elf_file *sn_elf_file_open_build_id(const void *id, size_t size) {
    const unsigned char *bytes = id;
    char path[sizeof DEBUG_FOLDER "/.build-id/" + 2 * 64 + sizeof "/.debug"];
    if (size < 2 || size > 64) {
        return NULL;
    }
    size_t used = (size_t)snprintf(path, sizeof path, DEBUG_FOLDER "/.build-id/%02x/", bytes[0]);
    for (size_t i = 1; i < size; i++) {
        used += (size_t)snprintf(path + used, sizeof path - used, "%02x", bytes[i]);
    }
    snprintf(path + used, sizeof path - used, ".debug");
    return sn_elf_file_open(path);
}

/** The checksum of .gnu_debuglink: CRC-32 as in zlib. */
static uint32_t checksum(const unsigned char *bytes, size_t size) {
    uint32_t table[256], sum = UINT32_MAX;
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++) {
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? UINT32_C(0xedb88320) : 0);
        }
    }
    for (size_t i = 0; i < size; i++) {
        sum = sum >> 8 ^ table[(sum ^ bytes[i]) & 0xff];
    }
    return ~sum;
}

/** Equal build ids, or where one is missing, the checksum: reading a large file for it is slow. */
static bool belongs_to(const sn_elf_file *debug, const sn_elf_file *file, uint32_t expected_checksum) {
    const void *mine, *its;
    ssize_t my_size = dwelf_elf_gnu_build_id(file->elf, &mine), its_size = dwelf_elf_gnu_build_id(debug->elf, &its);
    if (my_size > 0 && its_size > 0) {
        return my_size == its_size && memcmp(mine, its, (size_t)my_size) == 0;
    }
    return checksum(debug->bytes, debug->size) == expected_checksum;
}

static sn_elf_file *open_linked(const sn_elf_file *file, const char *path, uint32_t expected_checksum) {
    if (strcmp(path, file->path) == 0) {
        return NULL;
    }
    sn_elf_file *debug = sn_elf_file_open(path);
    if (debug != NULL && !belongs_to(debug, file, expected_checksum)) {
        sn_elf_file_close(debug);
        return NULL;
    }
    return debug;
}

static sn_elf_file *open_by_link(const sn_elf_file *file) {
    static const char *const forms[] = {"%.*s/%s", "%.*s/.debug/%s", DEBUG_FOLDER "%.*s/%s"};
    GElf_Word expected_checksum;
    const char *name = dwelf_elf_gnu_debuglink(file->elf, &expected_checksum);
    const char *slash = strrchr(file->path, '/');
    if (name == NULL || slash == NULL || strchr(name, '/') != NULL) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char path[PATH_SIZE];
        int length = snprintf(path, sizeof path, forms[i], (int)(slash - file->path), file->path, name);
        sn_elf_file *debug = length < (int)sizeof path ? open_linked(file, path, expected_checksum) : NULL;
        if (debug != NULL) {
            return debug;
        }
    }
    return NULL;
}

sn_elf_file *sn_elf_file_open_debug(const sn_elf_file *file) {
    const void *id;
    ssize_t size = dwelf_elf_gnu_build_id(file->elf, &id);
    sn_elf_file *debug = size > 0 ? sn_elf_file_open_build_id(id, (size_t)size) : NULL;
    return debug != NULL ? debug : open_by_link(file);
}
