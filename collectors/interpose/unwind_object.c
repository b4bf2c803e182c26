// Asking the dynamic linker, which takes no lock for that, and may be asked in signal handlers.
#include "unwind_object.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>

// As in glibc's <dlfcn.h>, which older versions don't have.
struct found_object {
    unsigned long long flags;
    void *begin, *end;
    struct link_map *map;
    void *header;
    unsigned long long reserved[7];
};
extern int find_among_loaded(void *address, struct found_object *found) __asm__("_dl_find_object")
    __attribute__((weak));

enum { PAGE = 4096 };

// Where a segment's addresses begin in memory, if the object's first page is its ELF header, as linkers make it.
static bool find_base(const Elf64_Ehdr *elf, uintptr_t *base) {
    if (__builtin_memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0 || elf->e_phentsize != sizeof(Elf64_Phdr) ||
        elf->e_phoff > PAGE || elf->e_phoff + elf->e_phnum * sizeof(Elf64_Phdr) > PAGE)
        return false;
    const Elf64_Phdr *headers = (const Elf64_Phdr *)((const unsigned char *)elf + elf->e_phoff);
    for (unsigned i = 0; i < elf->e_phnum; i++)
        if (headers[i].p_type == PT_LOAD) {
            *base = (uintptr_t)elf - headers[i].p_vaddr / PAGE * PAGE;
            return true;
        }
    return false;
}

// Between the segments of an object nothing can be read.
static bool find_segment(const Elf64_Ehdr *elf, uintptr_t address, struct segment *segment) {
    uintptr_t base;
    if (!find_base(elf, &base))
        return false;
    const Elf64_Phdr *headers = (const Elf64_Phdr *)((const unsigned char *)elf + elf->e_phoff);
    for (unsigned i = 0; i < elf->e_phnum; i++) {
        uintptr_t begin = base + headers[i].p_vaddr;
        bool is_readable = headers[i].p_type == PT_LOAD && (headers[i].p_flags & PF_R);
        if (is_readable && address - begin < headers[i].p_filesz) {
            segment->begin = (const unsigned char *)begin;
            segment->end = segment->begin + headers[i].p_filesz;
            return true;
        }
    }
    return false;
}

bool find_object(uintptr_t code, struct unwind_object *object) {
    struct found_object found;
    object->header = NULL;
    if (!find_among_loaded || find_among_loaded((void *)code, &found) != 0)
        return false;
    if (found.header && find_segment(found.begin, (uintptr_t)found.header, &object->segment))
        object->header = found.header;
    return true;
}
