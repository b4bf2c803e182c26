// Calls library functions with ranges that are known by hand (tests/end_to_end/compiling/test_library_calls.py): each
// in a function of its own, of memory that it alone uses. Its first lines say where that is.
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>
#include <wchar.h>

#define CASE(NAME) __attribute__((noinline)) static void case_##NAME(void)

char a[64], b[64], c[64];
wchar_t wide[16], wide_copy[16];
int numbers[6] = {5, 3, 6, 1, 4, 2};
volatile long kept;
volatile char wanted = 'o';
int pipe_in, pipe_out;
FILE *file;

static void keep(long value) { kept += value; }

// Leaves no library call in the cases themselves.
__attribute__((noinline)) static void set(char *to, const char *text) {
    memset(to, 'x', 64);
    memcpy(to, text, strlen(text) + 1);
}

CASE(strlen) { keep((long)strlen(a)); }
CASE(strnlen) { keep((long)strnlen(a, 3)); }
CASE(memcmp) { keep(memcmp(a, b, 12) < 0); }
CASE(memcmp_equal) { keep(memcmp(a, b, (size_t)(kept >= 0 ? 20 : 0)) < 0); }
CASE(strcmp) { keep(strcmp(a, b) < 0); }
CASE(strncmp) { keep(strncmp(a, b, 4) < 0); }
CASE(strcasecmp) { keep(strcasecmp(a, b)); }
CASE(memchr) { keep((char *)memchr(a, wanted, 20) - a); }
CASE(memchr_missing) { keep((long)memchr(a, '#' + (wanted == 0), 20)); }
CASE(strchr) { keep(strchr(a, wanted) - a); }
CASE(strchr_missing) { keep((long)strchr(a, '#' + (wanted == 0))); }
CASE(strrchr) { keep(strrchr(a, wanted) - a); }
CASE(strstr) { keep(strstr(a, b) - a); }
CASE(strspn) { keep((long)strspn(a, b)); }
CASE(strcpy) { keep(strcpy(c, a) == c); }
CASE(stpcpy) { keep(stpcpy(c, a) - c); }
CASE(strncpy) { keep(strncpy(c, a, 10) == c); }
CASE(strcat) { keep(strcat(c, a) == c); }
CASE(strncat) { keep(strncat(c, a, 3) == c); }
CASE(memccpy) { keep((char *)memccpy(c, a, wanted, 20) - c); }
CASE(memcpy) { keep(memcpy(c, a, (size_t)(kept >= 0 ? 21 : 0)) == c); }
CASE(mempcpy) { keep((char *)mempcpy(c, a, (size_t)(kept >= 0 ? 22 : 0)) - c); }
CASE(wcslen) { keep((long)wcslen(wide)); }
CASE(wcscpy) { keep(wcscpy(wide_copy, wide) == wide_copy); }
CASE(atoi) { keep(atoi(a)); }
CASE(strtol) {
    char *end;
    keep(strtol(a, &end, 0));
    keep(end - a);
}
CASE(strtoul_nothing) { keep((long)strtoul(a, NULL, 10)); }
CASE(strtod) { keep((long)strtod(a, NULL)); }

static int compare(const void *left, const void *right) { return *(const int *)left - *(const int *)right; }
CASE(qsort) { qsort(numbers, 6, sizeof *numbers, compare); }

CASE(write) { keep(write(pipe_out, a, 9)); }
CASE(read) { keep(read(pipe_in, b, 40)); }
CASE(read_failure) { keep(read(-1, b, 40)); }
CASE(send_failure) { keep(send(pipe_out, a, 4, 0)); }
CASE(fwrite) { keep((long)fwrite(a, 4, 5, file)); }
CASE(fread) { keep((long)fread(b, 3, 8, file)); }
CASE(fgets) { keep(fgets(b, 30, file) == b); }
CASE(fgets_end) { keep((long)fgets(b, 30, file)); }
CASE(fputs) { keep(fputs(a, file) >= 0); }
char *line;
size_t line_size;
CASE(getline) { keep(getline(&line, &line_size, file)); }
CASE(sprintf) { keep(sprintf(c, "%s-%d", a, 17)); }
CASE(snprintf) { keep(snprintf(c, 8, "%s-%d", a, 17)); }
CASE(snprintf_nothing) { keep(snprintf(NULL, 0, "%s", a)); }
int written;
CASE(sprintf_directives) { keep(sprintf(c, "%*d %.*s %.2s %n|%%%s", 3, 7, 4, a, b, &written, "end")); }
char *copy;
CASE(strdup) { copy = strdup(a); }

static void strings(void) {
    set(a, "hello, world");
    case_strlen();
    case_strnlen();
    set(b, "hello, World");
    case_memcmp();
    case_strcmp();
    case_strncmp();
    case_strcasecmp();
    set(b, "hello, world");
    case_memcmp_equal();
    case_memchr();
    case_memchr_missing();
    case_strchr();
    case_strchr_missing();
    case_strrchr();
    set(b, "wor");
    case_strstr();
    set(b, "elh");
    case_strspn();
    set(c, "");
    case_strcpy();
    case_stpcpy();
    case_strncpy();
    set(c, "12345");
    case_strcat();
    set(c, "12345");
    case_strncat();
    case_memccpy();
    case_memcpy();
    case_mempcpy();
    wide[0] = wide[1] = wide[2] = 'w';
    case_wcslen();
    case_wcscpy();
    case_strdup();
}

static void conversions(void) {
    set(a, "  -12x");
    case_atoi();
    set(a, "0x1fg");
    case_strtol();
    set(a, " abc");
    case_strtoul_nothing();
    set(a, "1.5e3;");
    case_strtod();
    case_qsort();
}

static void files(void) {
    int ends[2];
    if (pipe(ends) != 0)
        exit(2);
    pipe_in = ends[0];
    pipe_out = ends[1];
    set(a, "nine byte");
    case_write();
    case_read();
    case_read_failure();
    case_send_failure();
    file = tmpfile();
    if (!file)
        exit(2);
    set(a, "twenty characters...");
    case_fwrite();
    rewind(file);
    case_fread();
    rewind(file);
    set(a, "a line\nand another\n");
    case_fputs();
    rewind(file);
    case_fgets();
    case_getline();
    while (fgets(c, sizeof c, file))
        ;
    case_fgets_end();
    set(a, "formatted");
    case_sprintf();
    case_snprintf();
    case_snprintf_nothing();
    case_sprintf_directives();
}

int main(void) {
    printf("a %p\nb %p\nc %p\nwide %p\nwide_copy %p\nnumbers %p\n", (void *)a, (void *)b, (void *)c, (void *)wide,
           (void *)wide_copy, (void *)numbers);
    strings();
    conversions();
    files();
    printf("copy %p\nline %p\n", (void *)copy, (void *)line);
    printf("%ld %s %s %s %d\n", kept, a, b, c, numbers[0]);
    return (int)kept & 63;
}
