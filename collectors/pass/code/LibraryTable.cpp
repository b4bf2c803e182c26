#include "code/LibraryEffects.h"

namespace trackway {

// docs/collectors/compiler.md explains the syntax, and lists what is exact. A test compares its list with this one.
llvm::StringRef libraryTable() {
    return R"(
strlen                       read(arg0, result + 1)
strnlen                      read(arg0, min(result + 1, arg1))
wcslen                       read(arg0, (result + 1) * 4)
memcmp, bcmp                 read(arg0, difference(arg0, arg1, arg2)) read(arg1, difference(arg0, arg1, arg2))
strcmp, strcoll              read(arg0, mismatch(arg0, arg1)) read(arg1, mismatch(arg0, arg1))
strncmp                      read(arg0, mismatch(arg0, arg1, arg2)) read(arg1, mismatch(arg0, arg1, arg2))
strcasecmp                   read(arg0, case_mismatch(arg0, arg1)) read(arg1, case_mismatch(arg0, arg1))
strncasecmp                  read(arg0, case_mismatch(arg0, arg1, arg2)) read(arg1, case_mismatch(arg0, arg1, arg2))
memchr                       read(arg0, result ? result - arg0 + 1 : arg2)
rawmemchr                    read(arg0, result - arg0 + 1)
memrchr                      read(result ? result : arg0, result ? arg0 + arg2 - result : arg2)
strchr, index                read(arg0, result ? result - arg0 + 1 : string(arg0))
strchrnul                    read(arg0, result - arg0 + 1)
strrchr, rindex              read(arg0, string(arg0))
strstr, strcasestr           read(arg0, result ? result - arg0 + length(arg1) : string(arg0)) read(arg1, string(arg1))
memmem                       read(arg0, result ? result - arg0 + arg3 : arg1) read(arg2, arg3)
strspn, strcspn              read(arg0, result + 1) read(arg1, string(arg1))
strpbrk                      read(arg0, result ? result - arg0 + 1 : string(arg0)) read(arg1, string(arg1))

memcpy, memmove, mempcpy, __memcpy_chk, __memmove_chk, __mempcpy_chk  read(arg1, arg2) write(arg0, arg2)
memset, __memset_chk         write(arg0, arg2)
memccpy                      read(arg1, result ? result - arg0 : arg3) write(arg0, result ? result - arg0 : arg3)
bcopy                        read(arg0, arg2) write(arg1, arg2)
bzero, explicit_bzero        write(arg0, arg1)
strcpy, __strcpy_chk         read(arg1, string(arg1)) write(arg0, string(arg1))
stpcpy, __stpcpy_chk         read(arg1, result - arg0 + 1) write(arg0, result - arg0 + 1)
strncpy, stpncpy, __strncpy_chk, __stpncpy_chk  read(arg1, string(arg1, arg2)) write(arg0, arg2)
strlcpy                      read(arg1, result + 1) write(arg0, min(result + 1, arg2))
strcat, __strcat_chk         read(arg0, length(arg0) - length(arg1) + 1) read(arg1, string(arg1)) write(arg0 + (length(arg0) - length(arg1)), string(arg1))
strncat, __strncat_chk       read(arg0, length(arg0) - length(arg1, arg2) + 1) read(arg1, string(arg1, arg2)) write(arg0 + (length(arg0) - length(arg1, arg2)), length(arg1, arg2) + 1)
strdup, __strdup             read(arg0, string(arg0)) write(result, string(arg0)) if result allocate(result, string(arg0))
strndup, __strndup           read(arg0, string(arg0, arg1)) write(result, length(arg0, arg1) + 1) if result allocate(result, length(arg0, arg1) + 1)
wmemcpy, wmemmove, wmempcpy, __wmemcpy_chk, __wmemmove_chk  read(arg1, arg2 * 4) write(arg0, arg2 * 4)
wmemset                      write(arg0, arg2 * 4)
wcscpy, __wcscpy_chk         read(arg1, wide_string(arg1)) write(arg0, wide_string(arg1))

realloc                      read(arg0, result ? min(block(arg0), arg1) : 0) if result - arg0 write(result, result ? min(block(arg0), arg1) : 0) if result - arg0
reallocarray                 read(arg0, result ? min(block(arg0), arg1 * arg2) : 0) if result - arg0 write(result, result ? min(block(arg0), arg1 * arg2) : 0) if result - arg0
__rust_realloc               read(arg0, result ? min(copied(arg0, arg1), arg3) : 0) if result - arg0 write(result, result ? min(copied(arg0, arg1), arg3) : 0) if result - arg0

atoi, atol, atoll            read(arg0, integer(arg0, 10))
strtol, strtoll, strtoul, strtoull, strtoimax, strtoumax, strtoq, strtouq  read(arg0, integer(arg0, arg2)) write(arg1, 8) if arg1
atof                         read(arg0, real(arg0))
strtod, strtof, strtold      read(arg0, real(arg0)) write(arg1, 8) if arg1

qsort, qsort_r               read(arg0, arg1 * arg2) write(arg0, arg1 * arg2)

read, pread, pread64, recv, recvfrom, __read_chk, __pread_chk, __pread64_chk, __recv_chk, __recvfrom_chk  write(arg1, result)
write, pwrite, pwrite64, send, sendto  read(arg1, result)
getrandom                    write(arg0, result)
getentropy                   write(arg0, result ? 0 : arg1)
fread, fread_unlocked        write(arg0, result * arg1)
__fread_chk, __fread_unlocked_chk  write(arg0, result * arg2)
fwrite, fwrite_unlocked      read(arg0, result * arg1)
fgets, fgets_unlocked        write(arg0, string(arg0, arg1)) if result
__fgets_chk, __fgets_unlocked_chk  write(arg0, string(arg0, arg2)) if result
getline, getdelim, __getdelim  write(at(arg0), result + 1)
getcwd                       write(result, string(result)) if result
getenv, secure_getenv        read(arg0, string(arg0))
puts, fputs, fputs_unlocked, perror  read(arg0, string(arg0)) if arg0

pthread_mutex_init, mtx_init  write(arg0, 40)
pthread_mutex_lock, mtx_lock  write(arg0, 4) write(arg0 + 8, 8) read(arg0 + 16, 4)
pthread_mutex_trylock, mtx_trylock  write(arg0, result ? 0 : 4) read(arg0, result ? 4 : 0) write(arg0 + 8, result ? 0 : 8) read(arg0 + 16, 4)
pthread_mutex_timedlock, pthread_mutex_clocklock, mtx_timedlock  write(arg0, 4) write(arg0 + 8, result ? 0 : 8) read(arg0 + 16, 4)
pthread_mutex_unlock, mtx_unlock  write(arg0, 4) write(arg0 + 8, 8) read(arg0 + 16, 4)
pthread_spin_init, pthread_spin_lock, pthread_spin_trylock, pthread_spin_unlock  write(arg0, 4)
pthread_rwlock_init          write(arg0, 56)
pthread_rwlock_rdlock, pthread_rwlock_timedrdlock, pthread_rwlock_clockrdlock  write(arg0, 4) read(arg0 + 24, 4) read(arg0 + 48, 4)
pthread_rwlock_tryrdlock     write(arg0, result ? 0 : 4) read(arg0, result ? 4 : 0)
pthread_rwlock_wrlock, pthread_rwlock_timedwrlock, pthread_rwlock_clockwrlock  write(arg0, 4) write(arg0 + 12, 4) write(arg0 + 24, 4)
pthread_rwlock_trywrlock     write(arg0, result ? 0 : 4) read(arg0, result ? 4 : 0) write(arg0 + 12, result ? 0 : 4) write(arg0 + 24, result ? 0 : 4) read(arg0 + 48, 4)
pthread_rwlock_unlock        write(arg0, 4) read(arg0 + 24, 8)

_ZSt11_Hash_bytesPKvmm       read(arg0, arg1)
__dynamic_cast               read(arg0, 8) read(at(arg0) + (0 - 16), 16) read(at(at(arg0) + (0 - 8)), 16) read(arg2 + 8, 8)
_ZNKSt6locale2id5_M_idEv     read(arg0, 8)
_ZNSi7getlineEPclc           write(arg1, string(arg1, arg2))
_ZSt14__convert_to_vIfEvPKcRT_RSt12_Ios_IostateRKP15__locale_struct  read(arg0, real(arg0)) write(arg1, 4)
_ZSt14__convert_to_vIdEvPKcRT_RSt12_Ios_IostateRKP15__locale_struct  read(arg0, real(arg0)) write(arg1, 8)
_ZSt14__convert_to_vIeEvPKcRT_RSt12_Ios_IostateRKP15__locale_struct  read(arg0, real(arg0)) write(arg1, 10)

printf, vprintf              read(arg0, string(arg0)) format(arg0, arg1)
fprintf, vfprintf, dprintf, vdprintf, __printf_chk, __vprintf_chk  read(arg1, string(arg1)) format(arg1, arg2)
__fprintf_chk, __vfprintf_chk, __dprintf_chk, __vdprintf_chk  read(arg2, string(arg2)) format(arg2, arg3)
sprintf, vsprintf            write(arg0, result + 1) read(arg1, string(arg1)) format(arg1, arg2)
snprintf, vsnprintf          write(arg0, min(result + 1, arg1)) read(arg2, string(arg2)) format(arg2, arg3)
__sprintf_chk, __vsprintf_chk  write(arg0, result + 1) read(arg3, string(arg3)) format(arg3, arg4)
__snprintf_chk, __vsnprintf_chk  write(arg0, min(result + 1, arg1)) read(arg4, string(arg4)) format(arg4, arg5)
asprintf, vasprintf          write(at(arg0), result + 1) read(arg1, string(arg1)) format(arg1, arg2)
__asprintf_chk, __vasprintf_chk  write(at(arg0), result + 1) read(arg2, string(arg2)) format(arg2, arg3)
scanf, vscanf                read(arg0, string(arg0))
fscanf, vfscanf              read(arg1, string(arg1))
sscanf, vsscanf              read(arg0, string(arg0)) read(arg1, string(arg1))
)";
}

} // namespace trackway
