"""Readers of exported formats, and caches simulated in the plainest way."""

from collections import Counter, OrderedDict
from dataclasses import dataclass, field

from . import drmemtrace_files as drmemtrace


def lru_misses(lines, sets, ways):
    caches = [OrderedDict() for _ in range(sets)]
    misses = 0
    for line in lines:
        cache = caches[line % sets]
        if line in cache:
            cache.move_to_end(line)
            continue
        misses += 1
        if len(cache) == ways:
            cache.popitem(last=False)
        cache[line] = True
    return misses


class NaiveCache:
    """LRU, in lines of 32 bytes."""

    def __init__(self, size, ways, behind=None):
        self.sets = [[] for _ in range(size // 32 // ways)]
        self.ways, self.behind = ways, behind
        self.counts = Counter()
        self.missed = set()

    def take(self, line, prefix=""):
        lines = self.sets[line % len(self.sets)]
        is_hit = line in lines
        self.counts[prefix + ("hits" if is_hit else "misses")] += 1
        if is_hit:
            lines.remove(line)
            if self.behind:
                self.behind.counts["child_hits"] += 1
        else:
            self.missed.add(line)
            if self.behind:
                self.behind.take(line, prefix)
            if len(lines) == self.ways:
                lines.pop(0)
        lines.append(line)
        return is_hit


def naive_caches(threads, prefetches):
    """Two cores, which take turns: the third thread follows the first one."""
    last = NaiveCache(64 << 10, 8)
    caches = {"LL": last}
    queues = []
    for core in (0, 1):
        caches[f"L1I{core}"], caches[f"L1D{core}"] = NaiveCache(4 << 10, 2, last), NaiveCache(2 << 10, 4, last)
        steps = [entry for thread in threads[core::2] for entry in thread]
        # An iteration that isn't fetched takes a turn, too.
        kinds = (*drmemtrace.INSTRUCTIONS, drmemtrace.READ, drmemtrace.WRITE, drmemtrace.NOT_FETCHED)
        queues.append([entry for entry in steps if entry[0] in kinds])
    for turn in range(max(map(len, queues))):
        for core, queue in enumerate(queues):
            if turn >= len(queue) or queue[turn][0] == drmemtrace.NOT_FETCHED:
                continue
            kind, size, address = queue[turn]
            is_data = kind in (drmemtrace.READ, drmemtrace.WRITE)
            cache = caches[f"L1{'D' if is_data else 'I'}{core}"]
            for line in range(address // 32, (address + size - 1) // 32 + 1):
                if not cache.take(line) and is_data and prefetches:
                    cache.take(line + 1, "prefetch_")
    return caches


def branch(record):
    """(address, sort, whether it was taken) of a branch in ChampSim's record, by the registers it uses."""
    address, is_branch, taken = record[:3]
    if not is_branch:
        return None
    written, read = set(record[3:5]), set(record[5:9])
    other = bool(read - {0, 6, 25, 26})
    stack, pointer, flags = 6 in read, 26 in read, 25 in read
    if 26 not in written:
        raise AssertionError("a branch that doesn't write the instruction pointer")
    sorts = {
        (False, True, True, False): "conditional",
        (False, False, False, False): "direct jump",
        (False, False, False, True): "indirect jump",
        (True, True, False, False): "direct call",
        (True, True, False, True): "indirect call",
        (True, False, False, False): "return",
    }
    return address, sorts[stack, pointer, flags, other], bool(taken)


def branch_of_entry(kind, _, address):
    sorts = {11: "direct jump", 12: "indirect jump", 14: "direct call", 15: "indirect call", 16: "return"}
    if kind in (drmemtrace.TAKEN, drmemtrace.UNTAKEN):
        return address, "conditional", kind == drmemtrace.TAKEN
    return (address, sorts[kind], True) if kind in sorts else None


def fields(message):
    """(field, value) of a message of protocol buffers; a value is an integer or bytes."""
    position = 0

    def varint():
        nonlocal position
        value = shift = 0
        while True:
            byte = message[position]
            position += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while position < len(message):
        key = varint()
        value = varint()
        if key & 7 == 2:
            position += value
            value = message[position - value : position]
        elif key & 7 != 0:
            raise AssertionError(f"wire type {key & 7}")
        yield key >> 3, value


def packed(content):
    return [value for _, value in fields(b"".join(b"\x08" + number for number in numbers(content)))]


def numbers(content):
    start = 0
    for position, byte in enumerate(content):
        if byte < 0x80:
            yield content[start : position + 1]
            start = position + 1


def profile(message, between_lines=";"):
    """Measures with their units, and values by stack, outermost function first, of a profile.proto. `between_lines` stands
    between the functions of one location."""
    parts = list(fields(message))
    strings = [value.decode() for number, value in parts if number == 6]
    functions = {dict(fields(value))[1]: strings[dict(fields(value))[2]] for number, value in parts if number == 5}
    locations = {}
    for number, value in parts:
        if number == 4:
            location = list(fields(value))
            lines = [functions[dict(fields(line))[1]] for part, line in location if part == 4]
            locations[dict(location)[1]] = between_lines.join(reversed(lines))
    sorts = [dict(fields(value)) for number, value in parts if number == 1]
    samples = {}
    for number, value in parts:
        if number == 2:
            sample = dict(fields(value))
            stack = ";".join(locations[location] for location in reversed(packed(sample[1])))
            values = packed(sample[2])
            samples[stack] = [sum(pair) for pair in zip(values, samples.get(stack, [0] * len(values)), strict=True)]
    return [(strings[sort[1]], strings[sort[2]]) for sort in sorts], samples


@dataclass
class Callgrind:
    """Accesses of a callgrind.out: own ones by function, and by file and line; calls and inclusive ones by caller and callee."""

    own: Counter = field(default_factory=Counter)
    lines: Counter = field(default_factory=Counter)
    calls: Counter = field(default_factory=Counter)
    inclusive: Counter = field(default_factory=Counter)


def callgrind(path):
    read, files, names = Callgrind(), {}, {}
    file = function = callee = None
    is_call = False

    def name(text, known):
        number, _, rest = text.partition(" ")
        return known.setdefault(number, rest)

    with open(path) as text:
        lines = text.readlines()
    for line in lines:
        key, _, value = line.strip().partition("=")
        if key in ("fl", "fi", "fe"):
            file = name(value, files)
        elif key == "cfi":
            name(value, files)
        elif key == "fn":
            function = name(value, names)
        elif key == "cfn":
            callee = name(value, names)
        elif key == "calls":
            read.calls[function, callee] += int(value.split()[0])
            is_call = True
        elif function and line[:1].isdigit():
            number, accesses = map(int, line.split()[:2])
            if is_call:
                read.inclusive[function, callee] += accesses
            else:
                read.own[function] += accesses
                read.lines[file, number] += accesses
            is_call = False
    return read
