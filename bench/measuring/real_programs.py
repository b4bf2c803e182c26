"""The real programs that `bench/run real` measures: where their sources are, how they are built, and what they do."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from end_to_end.support.real_programs import SQLITE_FLAGS

from .real_sources import DRIVERS, crate, debian


@dataclass(frozen=True)
class Program:
    """A program and its run.

    `build` and `run` are lines of shell. `build` runs in a copy of the sources, with the compilers as CC and CXX and the
    folder of our drivers as DRIVERS, and leaves an executable `program`; `run` begins in a folder that holds nothing but
    the file `text`, with that executable as PROGRAM. What it prints must be the same in each run.
    """

    name: str
    source: Callable[[], Path]
    build: str
    run: str = '"$PROGRAM"'
    # Ends the server that `run` is, after asking it for what is compared in place of the server's output.
    client: str = ""
    threads: int = 1


def compressor(name, source, flags, levels):
    """A library that compresses, with a driver of ours. `flags` name its files and folders."""
    driver = f"-I$DRIVERS/compress $DRIVERS/compress/main.c $DRIVERS/compress/{name}.c"
    return Program(name, source, f"$CC {flags} {driver} -o program", f'"$PROGRAM" text {levels}')


XZ_FOLDERS = ("common", "lzma", "lz", "check", "delta", "rangecoder", "simple")
ONIGURUMA_HEADERS = "-DHAVE_STDINT_H -DHAVE_INTTYPES_H -DHAVE_UNISTD_H -DHAVE_ALLOCA_H"
ONIGURUMA_SIZES = "-DSIZEOF_INT=4 -DSIZEOF_LONG=8 -DSIZEOF_LONG_LONG=8 -DSIZEOF_VOIDP=8"

REAL = (
    Program(
        "lua",
        lambda: crate("lua-src", "lua-5.4.*"),
        "$CC -O2 -g -Wall -DLUA_COMPAT_5_3 -DLUA_USE_POSIX -I. *.c $DRIVERS/lua.c -o program -lm",
        '"$PROGRAM" "$DRIVERS/load.lua" 100000',
    ),
    Program(
        "sqlite",
        lambda: crate("libsqlite3-sys", "sqlite3"),
        f"$CC -O2 -g -w {' '.join(SQLITE_FLAGS)} -I. $DRIVERS/../../tests/real/sqlite_speed.c sqlite3.c -o program -lm",
        '"$PROGRAM" 100000',
    ),
    Program(
        "bzip2",
        lambda: crate("bzip2-sys", "bzip2-*"),
        "make -s CC=$CC CFLAGS='-Wall -Winline -O2 -g -D_FILE_OFFSET_BITS=64' bzip2; ln -s bzip2 program",
        '"$PROGRAM" -9 -k -c text',
    ),
    compressor(
        "zstd",
        lambda: crate("zstd-sys", "zstd/lib"),
        "-O3 -g -I. */*.c decompress/*.S -Wno-unused-command-line-argument",
        "1 6 12",
    ),
    compressor(
        "xz",
        lambda: crate("lzma-sys"),
        "-O2 -g -w -std=gnu99 -pthread -DHAVE_CONFIG_H -I. -Ixz-5.2/src/common -Ixz-5.2/src/liblzma/api "
        + " ".join(f"-Ixz-5.2/src/liblzma/{folder}" for folder in XZ_FOLDERS)
        + " $(ls xz-5.2/src/liblzma/{"
        + ",".join(XZ_FOLDERS)
        + "}/*.c | grep -vE '_small|_tablegen') xz-5.2/src/common/tuklib_{cpucores,physmem}.c",
        "1",
    ),
    compressor("lz4", lambda: crate("lz4-sys", "liblz4/lib"), "-O3 -g -I. *.c", "1 1 1 9"),
    Program(
        "zlib-ng",
        lambda: crate("libz-ng-sys", "src/zlib-ng"),
        "cmake -S . -B made -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_COMPILER=$CC -DBUILD_SHARED_LIBS=OFF -DZLIB_COMPAT=ON "
        "-DZLIB_ENABLE_TESTS=OFF; cmake --build made; "
        "$CC -O2 -g -I$DRIVERS/compress -I. -Imade $DRIVERS/compress/{main,zlib}.c made/libz.a -o program",
        '"$PROGRAM" text 1 3 6 9',
    ),
    Program(
        "jemalloc",
        lambda: crate("tikv-jemalloc-sys"),
        "cp configure/configure jemalloc; cd jemalloc; ./configure CC=$CC EXTRA_CFLAGS=-g --disable-cxx --with-version=5.3.1-0-g0; "
        "make -s build_lib_static; $CC -O2 -g $DRIVERS/allocations.c lib/libjemalloc.a -o ../program -lm -pthread",
        '"$PROGRAM" 1 3000000',
    ),
    Program(
        "leveldb",
        lambda: crate("leveldb-sys", "deps/leveldb-*"),
        "cmake -S . -B made -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_COMPILER=$CC -DCMAKE_CXX_COMPILER=$CXX "
        "-DLEVELDB_BUILD_TESTS=OFF -DLEVELDB_BUILD_BENCHMARKS=OFF -DHAVE_SNAPPY=OFF; cmake --build made; "
        "$CXX -O2 -g -Iinclude $DRIVERS/store.cpp made/libleveldb.a -o program -pthread",
        '"$PROGRAM" 300000',
    ),
    Program(
        "redis",
        lambda: debian("redis"),
        "make -s MALLOC=libc CC=$CC CXX=$CXX redis-server -C src; ln -s src/redis-server program; "
        "clang-22 -O2 $DRIVERS/server_client.c -o client",
        '"$PROGRAM" --port 0 --unixsocket socket --save "" --logfile log',
        client='"$CLIENT" socket 600000',
    ),
    Program(
        "rapidjson",
        lambda: debian("rapidjson"),
        # An operator that nobody calls assigns to a constant, which clang 19 rejects.
        "sed -i 's/const SizeType length;/SizeType length;/' include/rapidjson/document.h; "
        "$CXX -O3 -g -std=c++11 -Iinclude $DRIVERS/json.cpp -o program",
        '"$PROGRAM" 50000 5',
    ),
    Program(
        "oniguruma",
        lambda: crate("onig_sys", "oniguruma/src"),
        f"touch config.h; $CC -O2 -g -w {ONIGURUMA_HEADERS} {ONIGURUMA_SIZES} -I. $DRIVERS/regex.c ascii.c onig_init.c st.c utf8.c "
        "reg{exec,error,parse,ext,comp,enc,syntax,trav,version}.c unicode{,_unfold_key,_fold{1,2,3}_key}.c -o program",
        '"$PROGRAM" text 3000000',
    ),
    Program(
        "cadical",
        lambda: crate("cadical", "cadical/src"),
        "$CXX -O3 -g -std=c++17 -w -DNDEBUG -DNBUILD -DNUNLOCKED -DNTRACING -DQUIET -DVERSION='\"\"' -I. "
        "$(ls *.cpp | grep -vE '^(cadical|mobical)') $DRIVERS/sat.cpp -o program",
        '"$PROGRAM" 180 3',
    ),
)

ARGUMENTS = {
    "csr": "200000 16 120",
    "bucket_sort": "10000000 6",
    "histogram": "10000000 16",
    "hash_join": "1000000 5000000",
    "b_tree": "500000",
    "lu": "1200",
    "multigrid": "10 12",
}


def kernel(name, threads=1):
    """A kernel of ours, with indices instead of pointers."""
    flags = "-O2 -g" if threads == 1 else "-O2 -g -fopenmp"
    own = name if threads == 1 else f"{name}_{threads}"
    return Program(
        own, lambda: DRIVERS / "kernels", f"$CC {flags} {name}.c -o program -lm", f'"$PROGRAM" {ARGUMENTS[name]}', threads=threads
    )


KERNELS = tuple(kernel(name) for name in ARGUMENTS)
PARALLEL = tuple(kernel(name, threads=2) for name in ("csr", "histogram", "lu", "multigrid"))
