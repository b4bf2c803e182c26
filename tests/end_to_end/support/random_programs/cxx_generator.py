"""Random C++ programs: class templates, virtual functions, exceptions through several frames, destructors, lambdas,
containers and algorithms.

A program is a function of its seed. It prints one checksum, its behaviour is defined (unsigned arithmetic, indices in
range), and it ends: each function spends of an allowance. A few end by an exit from within, or by an exception that
nobody catches.
"""

import random

PRELUDE = "cxx_prelude.h"
FAILURES = ("Failure", "Deeper", "Named")
HANDLERS = {
    "Failure": "catch (const Failure &failure) {{ mix(failure.weight()); {} }}",
    "Deeper": "catch (Deeper &failure) {{ failure.part[0] ^= 9; mix(failure.weight()); {} }}",
    "Named": "catch (const std::runtime_error &error) {{ mix(std::string(error.what())); {} }}",
    "any": "catch (...) {{ mix(77); {} }}",
}
ELEMENTS = ("u64", "u32", "u16", "u8", "double", "std::string", "Guard")
NUMBERS = ("u64", "u32", "u16", "u8")


class Scope:
    """The unsigned variables that an expression may use, and which of them may be assigned to."""

    def __init__(self, readable, writable=()):
        self.readable = list(readable)
        self.writable = list(writable)

    def inner(self):
        return Scope(self.readable, self.writable)

    def add(self, name):
        self.readable.append(name)
        self.writable.append(name)


class CxxGenerator:
    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.lines = []
        self.depth = 0
        self.names = 0
        self.functions = self.chance.randint(3, 6)
        self.classes = self.chance.randint(2, 4)

    # ---- Text ----

    def emit(self, text):
        self.lines.append("    " * self.depth + text)

    def open(self, text):
        self.emit(text + " {")
        self.depth += 1

    def close(self, tail=""):
        self.depth -= 1
        self.emit("}" + tail)

    def name(self, prefix):
        self.names += 1
        return f"{prefix}{self.names}"

    def pick(self, *choices):
        return self.chance.choice(choices)

    def likely(self, share):
        return self.chance.random() < share

    # ---- Expressions: of type u64 ----

    def expression(self, scope, depth=2):
        if depth == 0 or self.likely(0.25):
            return self.leaf(scope)
        left, right = self.expression(scope, depth - 1), self.expression(scope, depth - 1)
        operator = self.pick("+", "-", "*", "^", "&", "|", "<<", ">>", "/", "%", "<", "==", "?")
        if operator in ("<<", ">>"):
            return f"({left} {operator} ({right} & 31))"
        if operator in ("/", "%"):
            return f"({left} {operator} ({right} | 1))"
        if operator in ("<", "=="):
            return f"u64({left} {operator} {right})"
        if operator == "?":
            return f"(({left} & 1) ? {right} : {self.leaf(scope)})"
        return f"({left} {operator} {right})"

    def leaf(self, scope):
        if scope.readable and self.likely(0.75):
            return f"u64({self.chance.choice(scope.readable)})"
        return f"u64({self.pick(self.chance.randint(0, 9), self.chance.getrandbits(16), self.chance.getrandbits(40))})"

    # ---- Classes ----

    def write_classes(self):
        for index in range(self.classes):
            base = self.chance.randrange(index) if index and self.likely(0.7) else None
            self.write_class(index, base)

    def write_class(self, index, base):
        virtual = self.pick("", "virtual ")
        bases = "Root" if base is None else f"Class{base}"
        fields = [(self.pick(*NUMBERS), f"field{index}_{n}") for n in range(self.chance.randint(1, 4))]
        self.open(f"struct Class{index} : {virtual if base is None else ''}{bases}")
        for kind, field in fields:
            width = f" : {self.chance.randint(3, 8)}" if self.likely(0.2) else ""
            self.emit(f"{kind} {field}{width};")
        if self.likely(0.4):
            self.emit(f"Guard guard{index}{{{index + 10}}};")
        if self.likely(0.4):
            self.emit(f"std::vector<u64> kept{index};")
        self.open(f"explicit Class{index}(u64 seed) : {bases}(seed + 1)")
        scope = Scope(["seed"])
        for kind, field in fields:
            self.emit(f"{field} = static_cast<{kind}>({self.expression(scope)} & 7);")
        self.close()
        self.emit(f"~Class{index}() override {{ mix({fields[0][1]}); }}")
        self.open("u64 step(u64 x) override")
        fields_scope = Scope(["x", "state"] + [field for _, field in fields])
        self.emit(f"state = {self.expression(fields_scope)};")
        if self.likely(0.3):
            self.emit(f"if (({self.expression(fields_scope)} & 15) == 3) throw {self.pick(*FAILURES)}(state);")
        inherited = "x" if base is None else f"Class{base}::step(x ^ {index})"
        self.emit(f"return {inherited} + {self.expression(fields_scope)};")
        self.close()
        if self.likely(0.5):
            self.emit(f"u64 twice(u64 x) override {{ return step(x) + step({self.expression(Scope(['x', 'state']))}); }}")
        self.close(";")

    # ---- Statements ----

    def statements(self, scope, function, depth):
        for _ in range(self.chance.randint(2, 3 if depth > 1 else 2)):
            self.statement(scope, function, depth)

    def statement(self, scope, function, depth):
        simple = (self.declare, self.assign, self.call, self.objects, self.container, self.lambdas, self.tuples,
                  self.raw_memory, self.tree, self.ring)
        nested = (self.loop, self.branch, self.attempt, self.choice, self.guarded)
        made = self.chance.choice(simple + nested + (self.throw,) if depth > 0 else simple)
        made(scope, function, depth)

    def declare(self, scope, function, depth):
        name = self.name("v")
        kind = self.pick(*NUMBERS, "volatile u64", "static thread_local u64")
        self.emit(f"{kind} {name} = static_cast<{kind.split()[-1]}>({self.expression(scope)});")
        scope.add(name)

    def assign(self, scope, function, depth):
        if scope.writable:
            name = self.chance.choice(scope.writable)
            self.emit(f"{name} = static_cast<decltype({name} + 0)>({self.expression(scope, 3)});")

    def call(self, scope, function, depth):
        callee = self.chance.randrange(self.functions)
        self.emit(f"mix(function{callee}({self.expression(scope)}, {self.expression(scope)}));")

    def throw(self, scope, function, depth):
        self.emit(f"if (({self.expression(scope)} & 7) == {self.chance.randint(0, 7)}) "
                  f"throw {self.pick(*FAILURES)}({self.expression(scope)});")

    def guarded(self, scope, function, depth):
        self.open("")
        self.emit(f"Guard {self.name('guard')}({self.expression(scope)});")
        self.statements(scope.inner(), function, depth - 1)
        self.close()

    def loop(self, scope, function, depth):
        counter, array = self.name("i"), self.name("a")
        kind, size = self.pick(*NUMBERS, "double"), self.chance.randint(2, 40)
        self.emit(f"{kind} {array}[{size}] = {{{self.chance.randint(0, 9)}}};")
        self.open(f"for (u32 {counter} = 0; {counter} < {size}; {counter} += {self.pick(1, 1, 1, 2, 3)})")
        inner = scope.inner()
        inner.readable.append(counter)
        reversed_index = f"{size - 1} - {counter}"
        self.emit(f"{array}[{self.pick(counter, reversed_index)}] = static_cast<{kind}>({self.expression(inner)} & 255);")
        if self.likely(0.4):
            self.statements(inner, function, depth - 1)
        if self.likely(0.3):
            self.emit(f"if (({self.expression(inner)} & 31) == 5) {self.pick('break', 'continue')};")
        self.close()
        self.emit(f"for (auto &each : {array}) mix(static_cast<u64>(each));")

    def branch(self, scope, function, depth):
        self.open(f"if ({self.expression(scope)} & {self.pick(1, 2, 4)})")
        self.statements(scope.inner(), function, depth - 1)
        self.depth -= 1
        self.open("} else")
        self.statements(scope.inner(), function, depth - 1)
        self.close()

    def choice(self, scope, function, depth):
        cases = self.chance.randint(2, 6)
        self.open(f"switch ({self.expression(scope)} % {cases + 1})")
        for case in range(cases):
            self.open(f"case {case}:")
            self.statement(scope.inner(), function, depth - 1)
            if self.likely(0.8):
                self.emit("break;")
            self.close()
        self.emit("default: mix(3);")
        self.close()

    def attempt(self, scope, function, depth):
        self.open("try")
        self.statements(scope.inner(), function, depth - 1)
        if self.likely(0.5):
            self.throw(scope, function, depth)
        self.depth -= 1
        caught = [name for name in ("Deeper", "Failure", "Named", "any") if self.likely(0.5)] or ["any"]
        handlers = [HANDLERS[name].format(self.pick("", "", "throw;") if depth > 1 else "") for name in caught]
        self.emit("} " + " ".join(handlers))

    def objects(self, scope, function, depth):
        name, index = self.name("object"), self.chance.randrange(self.classes)
        self.emit(f"auto {name} = std::unique_ptr<Root>(new Class{index}({self.expression(scope)}));")
        self.emit(f"mix({name}->{self.pick('step', 'twice')}({self.expression(scope)}));")
        if self.likely(0.3):
            self.emit(f"if (auto *{name}_other = dynamic_cast<Class{self.chance.randrange(self.classes)} *>({name}.get())) "
                      f"mix({name}_other->state);")

    def container(self, scope, function, depth):
        self.pick(self.vector, self.ordered, self.hashed, self.text)(scope)

    def vector(self, scope):
        name, kind = self.name("c"), self.pick("std::vector", "std::deque", "std::list")
        element = self.pick(*ELEMENTS)
        self.emit(f"{kind}<{element}> {name};")
        count = self.chance.randint(1, 20)
        fill = self.expression(Scope(scope.readable + ["k"]))
        self.emit(f"for (u64 k = 0; k < {count}; ++k) {name}.{self.pick('push_back', 'emplace_back')}"
                  f"(made<{element}>({fill} & 0xffff));")
        if element in NUMBERS and kind != "std::list":
            self.emit(self.pick(f"std::sort({name}.begin(), {name}.end());",
                                f"std::reverse({name}.begin(), {name}.end());",
                                f"std::partial_sum({name}.begin(), {name}.end(), {name}.begin());",
                                f"{name}.erase({name}.begin());"))
        if self.likely(0.3) and kind == "std::vector":
            self.emit(f"mix(number({name}.at({self.expression(scope)} % {count + 1} + 0)));")
        self.emit(f"for (const auto &each : {name}) mix(number(each));")

    def ordered(self, scope):
        name, value = self.name("m"), self.pick(*ELEMENTS)
        self.emit(f"std::map<u32, {value}> {name};")
        key = self.expression(Scope(scope.readable + ["k"]))
        self.emit(f"for (u64 k = 0; k < {self.chance.randint(1, 12)}; ++k) "
                  f"{name}.emplace(u32({key} % 64), made<{value}>(k));")
        self.emit(f"for (const auto &[key, value] : {name}) mix(key + number(value));")

    def hashed(self, scope):
        name = self.name("h")
        self.emit(f"std::unordered_map<u64, u64> {name};")
        key = self.expression(Scope(scope.readable + ["k"]))
        self.emit(f"for (u64 k = 0; k < {self.chance.randint(1, 30)}; ++k) {name}[{key} % 97] += k;")
        self.emit(f"mix(std::accumulate({name}.begin(), {name}.end(), u64(0), "
                  "[](u64 sum, const auto &entry) { return sum + entry.first * entry.second; }));")

    def text(self, scope):
        name = self.name("s")
        self.emit(f"std::string {name} = std::to_string({self.expression(scope)});")
        self.emit(f"{name} += std::string({self.expression(scope)} % 50, 'x');")
        self.emit(f"mix({name}.substr({name}.size() / 2));")

    def lambdas(self, scope, function, depth):
        name, capture = self.name("l"), self.pick("=", "&")
        held = self.pick("auto", "std::function<u64(u64)>")
        body = self.expression(Scope(scope.readable + ["x"]), 3)
        self.emit(f"{held} {name} = [{capture}](u64 x) -> u64 {{ return {body}; }};")
        self.emit(f"for (u64 k = 0; k < {self.chance.randint(1, 6)}; ++k) mix({name}(k));")

    def tuples(self, scope, function, depth):
        kinds = [self.pick(*ELEMENTS) for _ in range(self.chance.randint(1, 4))]
        values = ", ".join(f"made<{kind}>({self.expression(scope)} & 255)" for kind in kinds)
        self.emit(f"mix(total({values}));")
        if self.likely(0.4):
            name = self.name("w")
            self.emit(f"std::variant<u64, std::string, Guard> {name} = made<{self.pick('u64', 'std::string', 'Guard')}>("
                      f"{self.expression(scope)} & 63);")
            self.emit(f"mix(std::visit([](const auto &value) {{ return number(value); }}, {name}));")

    def raw_memory(self, scope, function, depth):
        name, size = self.name("raw"), self.chance.randint(8, 200)
        self.emit(f"unsigned char {name}[{size}], {name}_copy[{size}];")
        self.emit(f"std::memset({name}, int({self.expression(scope)} & 127), sizeof {name});")
        self.emit(f"u64 {name}_word = {self.expression(scope)};")
        self.emit(f"std::memcpy({name} + {self.chance.randint(0, size - 8)}, &{name}_word, 8);")
        self.emit(f"std::memcpy({name}_copy, {name}, {self.expression(scope)} % {size});")
        self.emit(f"std::memmove({name} + 1, {name}, {size - 1});")
        self.emit(f"mix({name}[{self.expression(scope)} % {size}]);")

    def tree(self, scope, function, depth):
        name, value = self.name("tree"), self.pick(*ELEMENTS)
        self.emit(f"Tree<{self.pick('u16', 'u64')}, {value}> {name};")
        key = self.expression(Scope(scope.readable + ["k"]))
        self.emit(f"for (u64 k = 0; k < {self.chance.randint(1, 16)}; ++k) mix(number({name}.at({key} % 50, k)));")
        self.emit(f"mix({name}.sum());")

    def ring(self, scope, function, depth):
        name, size = self.name("ring"), self.chance.randint(1, 8)
        element = self.pick(*ELEMENTS)
        pushed, popped = self.chance.randint(0, size + (self.likely(0.1))), self.chance.randint(0, size)
        self.emit(f"Ring<{element}, {size}> {name};")
        self.emit(f"for (u64 k = 0; k < {pushed}; ++k) {name}.push(made<{element}>(k + {self.leaf(scope)} % 100));")
        self.emit(f"for (u64 k = 0; k < {min(popped, pushed)}; ++k) mix(number({name}.pop()));")
        self.emit(f"{name}.each([](const auto &each) {{ mix(number(each)); }});")

    # ---- Functions ----

    def write_function(self, index):
        qualifier = self.pick("", "static ", "__attribute__((noinline)) ", "template <int Kind> ")
        self.open(f"{qualifier}u64 function{index}(u64 a, u64 b)")
        self.emit("if (!allowed()) return a ^ b;")
        scope = Scope(["a", "b"], ["a", "b"])
        self.statements(scope, index, 3)
        self.emit(f"return {self.expression(scope)};")
        self.close()
        return qualifier

    def ending(self):
        """How main ends, after the checksum is printed: mostly with a status, sometimes abruptly."""
        return self.pick(*["return int(checksum % 200);"] * 12, "std::exit(int(checksum % 100));",
                         "std::_Exit(3);", "throw Deeper(checksum);", "std::abort();")

    def program(self):
        self.emit(f'#include "{PRELUDE}"')
        self.open("struct Root")
        self.emit("u64 state;")
        self.emit("explicit Root(u64 seed = 1) : state(seed) {}")
        self.emit("virtual ~Root() { mix(state); }")
        self.emit("virtual u64 step(u64 x) { return x + state++; }")
        self.emit("virtual u64 twice(u64 x) { return step(x) * 2; }")
        self.close(";")
        self.write_classes()
        bodies, self.lines = self.lines, []
        qualifiers = [self.write_function(index) for index in range(self.functions)]
        functions, self.lines = self.lines, bodies
        for index, qualifier in enumerate(qualifiers):
            self.emit(f"{qualifier.replace('Kind', 'Kind = 0')}u64 function{index}(u64 a, u64 b);")
        self.lines += functions
        self.write_main()
        return "\n".join(self.lines) + "\n"

    def write_main(self):
        self.open("int main()")
        self.open(f"for (u64 round = 0; round < {self.chance.randint(3, 8)}; ++round)")
        self.open("try")
        self.emit(f"mix(function{self.chance.randrange(self.functions)}(round, {self.leaf(Scope(['round']))}));")
        self.depth -= 1
        self.emit("} catch (const Failure &failure) { mix(failure.weight());")
        self.emit("} catch (const std::exception &error) { mix(std::string(error.what()));")
        self.emit("}")
        self.close()
        self.emit('std::printf("%016llx\\n", static_cast<unsigned long long>(checksum));')
        self.emit("std::fflush(stdout);")
        self.emit(self.ending())
        self.close()
