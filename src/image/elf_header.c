/**
 * @fileoverview Reading and checking ELF headers: see elf_header.h.
 */
#include "image/elf_header.h"

#include <elf.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE UINT64_C(4096)
/** The kernel refuses segments beyond the user half. */
#define ADDRESS_LIMIT UINT64_C(0x7ffffffff000)

static const char *const error_texts[] = {
    [SN_ELF_OK] = "no error",
    [SN_ELF_NOT_ELF] = "not an ELF file",
    [SN_ELF_32_BIT] = "a 32-bit program",
    [SN_ELF_OTHER_MACHINE] = "a program for another processor",
    [SN_ELF_NOT_A_PROGRAM] = "not a program but another kind of ELF file",
    [SN_ELF_BAD_HEADER] = "its ELF header is corrupt",
    [SN_ELF_BAD_SEGMENT] = "its program headers are corrupt",
    [SN_ELF_TRUNCATED] = "the file is truncated",
};

const char *sn_elf_error_text(sn_elf_error error) {
    return error_texts[error];
}

sn_elf_error sn_elf_read_header(sn_elf *elf, const void *bytes, size_t size) {
    Elf64_Ehdr header;
    memset(elf, 0, offsetof(sn_elf, segments));
    if (size < SELFMAG || memcmp(bytes, ELFMAG, SELFMAG) != 0) {
        return SN_ELF_NOT_ELF;
    }
    if (size < sizeof header) {
        return SN_ELF_TRUNCATED;
    }
    memcpy(&header, bytes, sizeof header);
    /* The kernel looks at the machine only, and so do programs that keep data in the other bytes. */
    if (header.e_ident[EI_DATA] == ELFDATA2MSB) {
        return SN_ELF_OTHER_MACHINE;
    }
    if (header.e_machine == EM_386 || (header.e_machine == EM_X86_64 && header.e_ident[EI_CLASS] == ELFCLASS32)) {
        return SN_ELF_32_BIT;
    }
    if (header.e_machine != EM_X86_64) {
        return SN_ELF_OTHER_MACHINE;
    }
    if (header.e_type != ET_EXEC && header.e_type != ET_DYN) {
        return SN_ELF_NOT_A_PROGRAM;
    }
    if (header.e_phentsize != SN_ELF_ENTRY_SIZE || header.e_phnum == 0 || header.e_phnum > SN_ELF_ENTRIES_LIMIT ||
        header.e_phoff > INT64_MAX - 65536) {
        return SN_ELF_BAD_HEADER;
    }
    elf->movable = header.e_type == ET_DYN;
    elf->entry = header.e_entry;
    elf->table_offset = header.e_phoff;
    elf->entry_count = header.e_phnum;
    return SN_ELF_OK;
}

static int protection_of(uint32_t flags) {
    return (flags & PF_R ? PROT_READ : 0) | (flags & PF_W ? PROT_WRITE : 0) | (flags & PF_X ? PROT_EXEC : 0);
}

/** Whether the file holds the page of the last byte of [offset, offset + size). */
static bool in_file(uint64_t offset, uint64_t size, uint64_t file_size) {
    return size == 0 || ((offset + size - 1) & ~(PAGE - 1)) < file_size;
}

static sn_elf_error read_loadable(sn_elf *elf, const Elf64_Phdr *entry, uint64_t file_size) {
    if (entry->p_memsz == 0 && entry->p_filesz == 0) {
        return SN_ELF_OK;
    }
    if (entry->p_filesz > entry->p_memsz || entry->p_memsz > ADDRESS_LIMIT || entry->p_vaddr > ADDRESS_LIMIT ||
        entry->p_vaddr + entry->p_memsz > ADDRESS_LIMIT || entry->p_offset > INT64_MAX - ADDRESS_LIMIT ||
        (entry->p_filesz && (entry->p_vaddr - entry->p_offset) % PAGE)) {
        return SN_ELF_BAD_SEGMENT;
    }
    if (!in_file(entry->p_offset, entry->p_filesz, file_size)) {
        return SN_ELF_TRUNCATED;
    }
    elf->segments[elf->segment_count++] = (sn_elf_segment){
        .address = entry->p_vaddr,
        .offset = entry->p_offset,
        .file_size = entry->p_filesz,
        .memory_size = entry->p_memsz,
        .alignment = entry->p_align,
        .protection = protection_of(entry->p_flags),
    };
    uint64_t low = entry->p_vaddr & ~(PAGE - 1);
    uint64_t high = (entry->p_vaddr + entry->p_memsz + PAGE - 1) & ~(PAGE - 1);
    elf->low = low < elf->low ? low : elf->low;
    elf->high = high > elf->high ? high : elf->high;
    bool power_of_two = entry->p_align && !(entry->p_align & (entry->p_align - 1));
    if (power_of_two && entry->p_align > elf->alignment) {
        elf->alignment = entry->p_align;
    }
    if (elf->table_offset >= entry->p_offset && elf->table_offset - entry->p_offset < entry->p_filesz) {
        elf->table_address = entry->p_vaddr + (elf->table_offset - entry->p_offset);
    }
    return SN_ELF_OK;
}

static sn_elf_error read_interpreter(sn_elf *elf, const Elf64_Phdr *entry, uint64_t file_size) {
    if (elf->interpreter_size) {
        return SN_ELF_OK; /* the first one counts */
    }
    if (entry->p_filesz < 2 || entry->p_filesz > PATH_MAX) {
        return SN_ELF_BAD_SEGMENT;
    }
    if (entry->p_offset > file_size || entry->p_filesz > file_size - entry->p_offset) {
        return SN_ELF_TRUNCATED;
    }
    elf->interpreter_offset = entry->p_offset;
    elf->interpreter_size = entry->p_filesz;
    return SN_ELF_OK;
}

sn_elf_error sn_elf_read_segments(sn_elf *elf, const void *bytes, size_t size, uint64_t file_size) {
    if (size < (size_t)elf->entry_count * SN_ELF_ENTRY_SIZE) {
        return SN_ELF_TRUNCATED;
    }
    elf->low = UINT64_MAX;
    elf->high = 0;
    elf->alignment = PAGE;
    for (unsigned i = 0; i < elf->entry_count; i++) {
        Elf64_Phdr entry;
        sn_elf_error error = SN_ELF_OK;
        memcpy(&entry, (const char *)bytes + (size_t)i * SN_ELF_ENTRY_SIZE, sizeof entry);
        if (entry.p_type == PT_LOAD) {
            error = read_loadable(elf, &entry, file_size);
        } else if (entry.p_type == PT_INTERP) {
            error = read_interpreter(elf, &entry, file_size);
        } else if (entry.p_type == PT_GNU_STACK) {
            elf->executable_stack = entry.p_flags & PF_X;
        }
        if (error) {
            return error;
        }
    }
    return elf->segment_count ? SN_ELF_OK : SN_ELF_BAD_SEGMENT;
}

bool sn_elf_interpreter_name_valid(const sn_elf *elf, const char *name) {
    return elf->interpreter_size >= 2 && name[0] && name[elf->interpreter_size - 1] == '\0';
}
