"""Binaries as they are: the same results as without us, and the accesses that an independent tool sees."""

import collections
import csv
import io
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
import unittest
from pathlib import Path

from ..support import tools
from ..support.workloads import known_answers

# Where the linker puts an executable that isn't position-independent.
BASE = 0x400000
LONGEST = 1 << 24


def compiled(source, *flags):
    """A plain program at a fixed place."""
    output = tools.BUILD / "tests" / "binary" / (source.stem + "".join(flags).replace("/", "_"))
    output.parent.mkdir(parents=True, exist_ok=True)
    include = f"-I{tools.ROOT / 'workloads'}", f"-I{tools.BUILD / 'include'}"
    make = lambda: tools.compile_plain(output, [source], "-g", "-no-pie", *flags, *include, "-lm")
    return tools.once(("binary", output), make)


def recorded(trace, program, *arguments, options=(), **settings):
    return tools.record(trace, program, *arguments, options=("--binary", *options), **settings)


def verified(trace):
    """How many accesses it holds; fails if it breaks a rule."""
    text = tools.trackway("verify", trace).stdout
    return int(re.search(r"^invariants: hold for ([\d,]+) accesses", text, re.M).group(1).replace(",", ""))


def by_instruction(trace, program):
    """Accesses and bytes of the program's own instructions, by address."""
    words = ("report", "--csv", "--by", "instruction", "--cache", "none", "--top", "0")
    found = {}
    for row in csv.DictReader(io.StringIO(tools.trackway(*words, trace).stdout)):
        name, _, offset = row["instruction"].rpartition("+")
        if name == program.name:
            found[BASE + int(offset, 16)] = int(row["accesses"]), int(row["bytes"])
    return found


def by_lackey(program, *arguments, folder, **settings):
    """The same as Valgrind's Lackey sees it: a line for each instruction, and behind it one for each of its accesses."""
    log = f"{folder}/lackey"
    tools.run("valgrind", "--tool=lackey", "--trace-mem=yes", f"--log-file={log}", program, *arguments, **settings)
    accesses, size = collections.Counter(), collections.Counter()
    address = 0
    with open(log) as lines:
        for kind, rest in ((line[:2], line[3:]) for line in lines):
            if kind == "I ":
                address = int(rest.split(",")[0], 16)
            elif kind in (" L", " S", " M") and BASE <= address < BASE + LONGEST:
                times = 2 if kind == " M" else 1  # it is read and written
                accesses[address] += times
                size[address] += times * int(rest.split(",")[1])
    return {address: (accesses[address], size[address]) for address in accesses}


def locked(program):
    """Addresses of atomic instructions but compare-and-exchange, of which Lackey sees what we do."""
    text = tools.run("objdump", "-d", "--no-show-raw-insn", program).stdout
    return {int(address, 16) for address in re.findall(r"^ *([0-9a-f]+):\s+(?:lock (?!cmpxchg)|xchg .*\()", text, re.M)}


class Truth(unittest.TestCase):
    maxDiff = None
    """Each instruction of the executable makes the accesses that Lackey sees, no more and no fewer. But what is a load and a
    store for us is a load and a modification for Lackey where it is atomic, that is three accesses."""

    def check(self, name, *flags):
        program = compiled(tools.ROOT / "workloads" / name, *flags)
        with tools.folder() as folder:
            trace = f"{folder}/trace"
            one_thread = tools.environment(OMP_NUM_THREADS="1")
            output = recorded(trace, program, "small", env=one_thread).stdout
            self.assertEqual(output.strip(), known_answers()[program.name.split("-")[0].removesuffix(name[-2:])])
            self.assertGreater(verified(trace), 1000)
            expected = by_lackey(program, "small", folder=folder, env=one_thread)
            for address in locked(program) & expected.keys():
                accesses, size = expected[address]
                expected[address] = accesses * 2 // 3, size * 2 // 3
            self.assertEqual(by_instruction(trace, program), expected)

    def test_quicksort(self):
        self.check("quicksort.c", "-O2")

    def test_hash(self):
        self.check("hash.c", "-O2")

    def test_tree(self):
        self.check("tree.c", "-O0")

    def test_bfs(self):
        self.check("bfs.c", "-O1", "-fopenmp")

    def test_matrix(self):
        self.check("matrix.c", "-O3")

    def test_kvstore(self):
        self.check("kvstore.c", "-O2")


class Instructions(unittest.TestCase):
    """What single instructions do."""

    def accesses(self, name, answer, *flags):
        program = compiled(tools.PROGRAMS / name, *flags)
        with tools.folder() as folder:
            trace = f"{folder}/trace"
            done = recorded(trace, program, check=False)
            if done.returncode == 77:
                self.skipTest("this processor lacks the instructions")
            self.assertEqual(done.stdout.strip(), answer)
            verified(trace)
            return collections.Counter(by_instruction(trace, program).values())

    def test_repeated_strings(self):
        found = self.accesses("string_instructions.c", "3395 3972 10", "-O1", "-fno-builtin")
        self.assertEqual(found[2 * 1000, 2 * 1000], 1)
        self.assertEqual(found[300, 8 * 300], 1)
        self.assertEqual(found[701, 701], 1)
        self.assertEqual(found[2 * 124, 2 * 124], 1)

    def test_gathers(self):
        found = self.accesses("gathers.c", str(sum(2 * i + 63 + i for i in range(1000))), "-O1")
        self.assertEqual(found[8 * 1000, 4 * 8 * 1000], 1)
        self.assertEqual(found[3 * 1000, 4 * 3 * 1000], 1)

    def check_masked_moves(self, instructions):
        """What the trace has of each is what the processor was seen to do."""
        program = compiled(tools.PROGRAMS / "masked_moves.c", "-O1")
        measured = tools.run(program, instructions, "measure", check=False)
        if measured.returncode == 77:
            self.skipTest(f"this processor lacks {instructions}: masked moves go untested")
        expected = {name: (int(count), int(size)) for name, count, size in map(str.split, measured.stdout.splitlines())}
        symbols = tools.run("nm", program).stdout
        places = {name: int(at, 16) for at, name in re.findall(r"^([0-9a-f]+) \w access_(\w+)$", symbols, re.M)}
        with tools.folder() as folder:
            trace = f"{folder}/trace"
            recorded(trace, program, instructions, "run")
            verified(trace)
            found = by_instruction(trace, program)
        self.assertGreater(len(expected), 9)
        self.assertEqual({name: found[places[name]] for name in expected}, expected)

    def test_masked_moves_of_avx2(self):
        self.check_masked_moves("avx2")

    def test_masked_moves_of_avx512(self):
        self.check_masked_moves("avx512")

    def test_faults_lose_nothing(self):
        found = self.accesses("faults.c", "1000 1000 1000", "-O1")
        self.assertGreaterEqual(found[2000, 16000], 3)
        self.assertEqual(found[2000, 2000], 1)

    def test_blocks_that_are_left_where_a_branch_is_taken(self):
        """What each instruction accessed is what the program counted, and a handler finds the program's registers."""
        program = compiled(tools.PROGRAMS / "passed_branches.c", "-O1")
        places = {name: int(at, 16) for at, name in re.findall(r"^([0-9a-f]+) t (\w+)$", tools.run("nm", program).stdout, re.M)}
        with tools.folder() as folder:
            trace = f"{folder}/trace"
            self.assertEqual(recorded(trace, program).stdout, "1000 800 686 686 0\n")
            verified(trace)
            found = by_instruction(trace, program)
            words = ("branches", "--csv", "--by", "branch", "--predictor", "bimodal", "--top", "0")
            branches = {row["branch"]: row for row in csv.DictReader(io.StringIO(tools.trackway(*words, trace).stdout))}
        for name, count, size in (("passed_0", 1000, 8), ("passed_1", 800, 8), ("passed_2", 686, 8), ("faulting", 686, 1)):
            self.assertEqual(found[places[name]], (2 * count, 2 * count * size), name)
        self.assertEqual(found[places["passed_3"]], (2 * 686, 2 * 686 * 8))
        for name, count, taken in (("branch_0", 1000, 200), ("branch_1", 800, 114)):
            row = branches[f"{program.name}+{places[name] - BASE:#x}"]
            self.assertEqual((int(row["executions"]), float(row["taken_rate"])), (count, taken / count), name)

    def test_code_that_the_program_writes(self):
        self.accesses("generated_code.c", "300 89700 0", "-O1")

    def test_alignment_checks_that_are_switched_on(self):
        self.accesses("alignment_flag.c", "1000 1", "-O1")


class Allocations(unittest.TestCase):
    def test_each_call_of_an_allocator_is_a_row(self):
        program = compiled(tools.PROGRAMS / "allocations.c", "-O1", "-fno-builtin")
        with tools.folder() as folder:
            trace = f"{folder}/trace"
            recorded(trace, program)
            verified(trace)
            text = tools.trackway("memory", "--csv", "--table", "allocations", "--top", "0", trace).stdout
            found = {row["allocator"]: row for row in csv.DictReader(io.StringIO(text)) if row["function"] == "main"}
        expected = {
            "malloc": (100, 100_000, 0),
            "realloc": (100, 300_000, 50),
            "posix_memalign": (1, 500, 1),
            "calloc": (1, 40, 1),
        }
        names = "allocations", "allocated_bytes", "never_released"
        self.assertEqual({name: tuple(int(row[column]) for column in names) for name, row in found.items()}, expected)


class Windows(unittest.TestCase):
    """Recording that is switched on and off."""

    def check(self, what, *options):
        """Whatever lies between two switches is whole: of each thread there are no more gaps than windows begin."""
        program = compiled(tools.PROGRAMS / "binary_windows.c", "-O1", "-pthread")
        expected = tools.run(program, what, 1, check=False)
        with tools.folder() as folder:
            trace = f"{folder}/trace"
            done = recorded(trace, program, what, 2000, options=options, check=False)
            self.assertEqual((done.stdout, done.returncode), (expected.stdout, 4), done.stderr)
            first, second, size = done.stdout.splitlines()[0].split()
            opened = int(re.search(r" in ([\d,]+) windows?,", done.stderr).group(1).replace(",", ""))
            self.assertGreater(verified(trace), 0)
            found = self.stretches(trace, (int(first, 16), int(second, 16)), int(size))
        threads = 1 if what == "main" else 2
        self.assertEqual(len(found), threads)
        for count, stretches in found.values():
            self.assertTrue(0 < stretches <= opened, (stretches, opened))
            self.assertGreater(count, 1000)
        return opened

    def stretches(self, trace, arrays, size):
        """Stores to each array that were recorded, and of how many stretches without a gap they consist."""
        found = {}
        for line in tools.trackway("dump", "--json", trace).stdout.splitlines():
            if '"kind":"store"' not in line:
                continue
            address = int(json.loads(line)["address"], 16)
            array = next((array for array in arrays if array <= address < array + size), None)
            if array is None:
                continue
            count, stretches, expected = found.get(array, (0, 0, None))
            stretches += address != expected
            found[array] = count + 1, stretches, array + (address + 4 - array) % size
        return {array: (count, stretches) for array, (count, stretches, _) in found.items()}

    def test_what_lies_in_bursts_is_whole(self):
        self.assertGreater(self.check("main", "--bursts", "10ms/300ms"), 2)

    def test_threads_follow(self):
        self.assertGreater(self.check("threads", "--bursts", "10ms/300ms"), 2)

    def test_forked_processes_follow(self):
        self.assertGreater(self.check("fork", "--bursts", "10ms/300ms"), 2)

    def test_time_decides(self):
        self.assertEqual(self.check("main", "--start-after", "1s", "--duration", "30ms"), 1)

    def test_size_decides(self):
        self.assertEqual(self.check("main", "--max-size", "1M"), 1)

    def test_accesses_decide(self):
        program = compiled(tools.PROGRAMS / "flight.c", "-O1", "-pthread")
        with tools.folder() as folder:
            whole, late = f"{folder}/whole", f"{folder}/late"
            for trace, options in ((whole, ()), (late, ("--start-after", "1Macc"))):
                recorded(trace, program, "quiet", 500_000, options=options)
            info = tools.trackway("info", late).stdout
            passed = int(re.search(r"after ([\d,]+) accesses", info).group(1).replace(",", ""))
            self.assertGreaterEqual(passed, 1_000_000)
            # The loader and the C library do a little more or less, depending on where they lie.
            self.assertAlmostEqual(passed + verified(late), verified(whole), delta=2000)

    def test_programs_do_in_bursts_what_they_do_without_us(self):
        text = tools.ROOT / "docs" / "format.md"
        for script in ("for i in 3 1 2; do echo $i; done | sort; (echo sub | tr a-z A-Z); exit 5",
                       f"sort {text} | uniq -c | md5sum; xz -c {text} | xz -dc | cksum",
                       "/usr/bin/python3 -c 'print(sum(i * i for i in range(100000)))'"):
            with self.subTest(script), tools.folder() as folder:
                expected = tools.run("sh", "-c", script, check=False)
                trace = f"{folder}/trace"
                done = recorded(trace, "sh", "-c", script, options=("--bursts", "2ms/10ms"), check=False)
                self.assertEqual((done.stdout, done.returncode), (expected.stdout, expected.returncode), done.stderr)
                self.assertGreater(verified(trace), 0)


class Processes(unittest.TestCase):
    """The same output and status as without us, and a trace that keeps the rules."""

    def check(self, *command, status=0):
        expected = tools.run(*command, check=False, stdin=None)
        self.assertEqual(expected.returncode, status)
        with tools.folder() as folder:
            trace = f"{folder}/trace"
            done = recorded(trace, *command, check=False)
            self.assertEqual((done.stdout, done.returncode), (expected.stdout, status), done.stderr)
            return verified(trace)

    def test_shell_with_pipes_and_subshells(self):
        self.check("sh", "-c", "for i in 3 1 2; do echo $i; done | sort; (echo sub | tr a-z A-Z); exit 5", status=5)

    def test_bash(self):
        self.check("bash", "-c", "x=$(echo hi | tr a-z A-Z); for i in $(seq 5); do echo $x $((i * i)); done")

    def test_coreutils(self):
        self.check("ls", "-la", "/usr/lib")

    def test_sort(self):
        self.check("sort", "-n", tools.ROOT / "docs" / "format.md")

    def test_grep(self):
        self.check("grep", "-c", "chunk", tools.ROOT / "docs" / "format.md")

    def test_awk(self):
        self.check("awk", "BEGIN { for (i = 0; i < 1000; i++) s += i * i; print s }")

    def test_perl(self):
        self.check("perl", "-e", 'my %h; $h{$_ % 7} += $_ for 1..10000; print join(",", map {"$_=$h{$_}"} sort keys %h)')

    def test_python(self):
        self.check("/usr/bin/python3", "-c", "import json, re; print(json.dumps({'a': [1, re.sub('a', 'b', 'banana')]}))")

    def test_compiler(self):
        with tools.folder() as folder:
            source = tools.PROGRAMS / "faults.c"
            self.check("gcc", "-O1", "-c", source, "-o", f"{folder}/object")
            plain = tools.run("gcc", "-O1", "-c", source, "-o", f"{folder}/plain")
            self.assertEqual(plain.returncode, 0)
            with open(f"{folder}/object", "rb") as ours, open(f"{folder}/plain", "rb") as theirs:
                self.assertEqual(ours.read(), theirs.read())

    def test_bzip2(self):
        self.check("sh", "-c", f"bzip2 -c {tools.ROOT}/Cargo.lock | bzip2 -dc | md5sum")

    def test_xz(self):
        self.check("sh", "-c", f"xz -c {tools.ROOT}/Cargo.lock | xz -dc | md5sum")

    def test_gzip(self):
        self.check("sh", "-c", f"gzip -c {tools.ROOT}/Cargo.lock | gzip -dc | md5sum")

    def test_tar(self):
        self.check("sh", "-c", f"cd {tools.ROOT} && tar c docs | md5sum")

    def test_openssl(self):
        self.check("openssl", "dgst", "-sha256", tools.ROOT / "Cargo.lock")

    def test_git(self):
        self.check("git", "hash-object", tools.ROOT / "Cargo.lock")

    def test_sqlite(self):
        statements = "create table t(a, b); insert into t values (1, 'x'), (2, 'y'); select sum(a), max(b) from t;"
        self.check("sqlite3", ":memory:", statements)

    def test_find_and_xargs(self):
        self.check("sh", "-c", f"find {tools.ROOT}/docs -name '*.md' | sort | xargs wc -l")

    def test_sed(self):
        self.check("sed", "-n", "s/chunk/CHUNK/p", tools.ROOT / "docs" / "format.md")

    def test_diff(self):
        self.check("diff", tools.ROOT / "README.md", tools.ROOT / "ARCHITECTURE.md", status=1)

    def test_curl_from_loopback(self):
        server = "import http.server, threading, subprocess, sys\n"
        server += "s = http.server.HTTPServer(('127.0.0.1', 0), http.server.SimpleHTTPRequestHandler)\n"
        server += "s.RequestHandlerClass.log_message = lambda *a: None\n"
        server += "threading.Thread(target=s.serve_forever, daemon=True).start()\n"
        server += "sys.exit(subprocess.call([*sys.argv[1:], f'http://127.0.0.1:{s.server_port}/LICENSE']))\n"
        with tools.folder() as folder:
            trace = f"{folder}/trace"
            words = (tools.TRACKWAY, "record", "--binary", "-q", "-f", "-o", trace, "--", "curl", "-s", "--noproxy", "*")
            done = tools.run("python3", "-c", server, *words, cwd=tools.ROOT)
            self.assertEqual(done.stdout, (tools.ROOT / "LICENSE").read_text())
            self.assertGreater(verified(trace), 1000)

    def needs(self, program):
        if not shutil.which(program):
            self.skipTest(f"{program} is not installed")

    def test_java(self):
        """Compiles while it runs, throws where pointers are null, and asks the processor who it is."""
        self.needs("javac")
        with tools.folder() as folder:
            tools.run("javac", "-d", folder, tools.PROGRAMS / "Compiled.java")
            self.check("java", "-cp", folder, "Compiled")

    def test_node(self):
        self.needs("node")
        program = "let s = 0; for (let i = 0; i < 300000; i++) s += (i * 7919) % 1000; console.log(s)"
        self.check("node", "-e", program)

    def test_static(self):
        self.check(compiled(tools.PROGRAMS / "string_instructions.c", "-O1", "-static"))

    def test_threads(self):
        with tools.folder() as folder:
            program = f"{folder}/threads"
            tools.compile_plain(program, [tools.PROGRAMS / "endings.c"], "-O1", "-pthread")
            for ending, status in (("return", 0), ("_exit", 7), ("kill", 137), ("crash", 139), ("abort", 134)):
                with self.subTest(ending):
                    trace = f"{folder}/trace"
                    done = recorded(trace, program, ending, check=False)
                    self.assertEqual(done.returncode, status)
                    self.assertGreater(verified(trace), 100_000)

    def test_threads_that_wait_as_the_program_ends(self):
        self.check(compiled(tools.PROGRAMS / "idle_threads.c", "-O1", "-pthread"))

    def test_a_program_that_is_not_there(self):
        with tools.folder() as folder:
            done = recorded(f"{folder}/trace", "no-such-program", check=False)
            self.assertEqual(done.returncode, 127)


class Redis:
    """A server on a free port of loopback, started behind some words, that keeps nothing on disk. Debian's redis-tools has
    the server's program as redis-check-rdb: its name says what it does."""

    def __init__(self, folder, *before):
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = str(free.getsockname()[1])
        server = Path(folder) / "redis-server"
        if not server.exists():
            server.symlink_to(shutil.which("redis-check-rdb"))
        options = "--bind", "127.0.0.1", "--port", self.port, "--save", "", "--appendonly", "no", "--dir", folder
        words = [str(word) for word in (*before, server, *options)]
        settings = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "start_new_session": True}
        self.process = subprocess.Popen(words, **settings)

    def __enter__(self):
        ends = time.monotonic() + 60
        while self.ask("ping", check=False) != "PONG\n":
            if self.process.poll() is not None or time.monotonic() > ends:
                self.kill()
                raise AssertionError(f"the server doesn't answer: {self.process.communicate()[0]}")
            time.sleep(0.05)
        return self

    def __exit__(self, *_):
        self.kill()
        self.process.communicate()

    def kill(self):
        """If it still runs: its recorder, too."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)

    def ask(self, *words, check=True):
        return tools.run("redis-cli", "-p", self.port, *words, check=check, time_limit_s=60).stdout

    def load(self, requests):
        kinds = "set,get,incr,lpush,rpop,sadd,hset,zadd,lrange_100,mset"
        words = "-p", self.port, "-c", "4", "-n", requests, "-t", kinds, "-q"
        tools.run("redis-benchmark", *words, time_limit_s=300)

    def stop(self):
        """The server's status."""
        self.ask("shutdown", "nosave")
        self.process.communicate(timeout=120)
        return self.process.returncode


class Servers(unittest.TestCase):
    QUESTIONS = (
        ("mset", "one", "1", "two", "2"),
        ("incrby", "one", "41"),
        ("mget", "one", "two", "three"),
        ("rpush", "numbers", "30", "4", "100"),
        ("sort", "numbers"),
        ("zadd", "scores", "3", "c", "1", "a", "2", "b"),
        ("zrange", "scores", "0", "-1", "withscores"),
        ("eval", "local s = 0 for i = 1, ARGV[1] do s = s + i end return {s, redis.call('get', 'one')}", "0", "1000"),
        ("llen", "mylist"),
        ("get", "counter:__rand_int__"),
        ("dbsize",),
        ("get", "numbers"),  # an error
    )

    def replies(self, folder, *before):
        with Redis(folder, *before) as server:
            server.load(500)
            answers = [server.ask(*question) for question in self.QUESTIONS]
            self.assertEqual(server.stop(), 0)
        return answers

    def test_redis_under_load_from_loopback(self):
        with tools.folder() as folder:
            trace = f"{folder}/trace"
            expected = self.replies(folder)
            self.assertIn("500500", expected[7])
            self.assertEqual(self.replies(folder, tools.TRACKWAY, "record", "--binary", "-q", "-f", "-o", trace, "--"), expected)
            self.assertGreater(verified(trace), 1_000_000)
