"""Calls of one seed: a signature, what the callee does with its arguments, and what the caller checks.

Callee and caller print a hash of all that they were given, and what must be the same for every compiler: whether copies
lie where their alignment says, whether the caller's own objects are as before, whether the stack grew.
"""

import random
from dataclasses import dataclass

from .types import Type, Types

# Conventions that both compilers know on x86-64.
CONVENTIONS = ("preserve_most", "preserve_all", "vectorcall", "regcall", "ms_abi", "sysv_abi", "swiftcall")
MOST_PARAMETERS = 14
HOPS = 2000
# More would mean that each of the hops took some.
MOST_DEPTH = 16000
X87 = {"f80", "complex80"}
# Types that never go through memory which the callee owns: LLVM miscompiles calls in tail position of others.
IN_REGISTERS = ("i32", "u8", "i64", "u64", "f32", "f64", "f80", "i128", "pointer", "f32x4", "i64x2")


@dataclass(frozen=True)
class Parameter:
    type: Type
    name: str
    mode: str = ""  # "", "&" or "&&"

    @property
    def declaration(self):
        return f"{self.type.name} {self.mode}{self.name}"

    @property
    def argument(self):
        moves = self.mode == "&&" or (self.type.is_movable_only and not self.mode)
        return f"static_cast<{self.type.name} &&>({self.name})" if moves else self.name

    @property
    def is_kept(self):
        """Whether the caller's object must be as before."""
        return not self.mode


class Case:
    def __init__(self, seed, is_cxx, version):
        self.chance = random.Random(f"{seed} {is_cxx}")
        self.seed = seed
        self.is_cxx = is_cxx
        self.name = f"take{seed}"
        self.version = version
        self.types = Types(self.chance, f"s{seed}", is_cxx, version)
        self.hops = self.likely(0.08)
        self.parameters = [self.parameter(f"a{n}") for n in range(self.count())]
        self.result = self.result_type()
        self.unnamed = self.unnamed_types()
        self.callback = (self.types.aggregate(), self.types.aggregate()) if self.likely(0.25) and not self.hops else None
        self.throws = is_cxx and not self.hops and self.likely(0.2)
        self.kind = self.pick_kind()
        self.convention = self.pick_convention()
        self.forwards = self.pick_forwarding()

    def likely(self, share):
        return self.chance.random() < share

    # ---- What is called ----

    def count(self):
        return self.chance.choice((0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 8, MOST_PARAMETERS))

    def parameter(self, name):
        if self.hops:
            return Parameter(Type(self.chance.choice(IN_REGISTERS)), name)
        type_ = self.types.any()
        mode = self.chance.choice(("", "", "", "&", "&&")) if self.is_cxx else ""
        return Parameter(type_, name, mode)

    def result_type(self):
        if self.likely(0.2):
            return Type("void")
        if self.hops and not self.likely(0.3):
            return Type(self.chance.choice(IN_REGISTERS))
        return self.types.aggregate() if self.hops else self.types.any()

    def unnamed_types(self):
        by_value = self.parameters and not self.parameters[-1].mode and self.parameters[-1].type.name in ("i32", "i64", "f64")
        if self.hops or not self.likely(0.3):
            return []
        if not by_value:  # C17 wants a named parameter, and va_start an ordinary type
            self.parameters.append(Parameter(Type("i64"), f"a{len(self.parameters)}"))
        return [self.types.unnamed() for _ in range(self.chance.randint(0, 6))] + [Type("i32")]

    def pick_kind(self):
        if self.hops or not self.is_cxx:
            return self.chance.choice(("function", "function", "weak")) if not self.hops else "function"
        kinds = ["function", "weak", "inline", "template", "method", "virtual", "static"]
        # Clang itself takes the pointer to a large result for `this` in a thunk that takes further arguments.
        return self.chance.choice(kinds if self.unnamed else [*kinds, "second", "constructor"])

    def pick_convention(self):
        if self.kind != "function" or self.unnamed or self.hops or self.throws or not self.likely(0.15):
            return ""
        convention = self.chance.choice(CONVENTIONS)
        # Until 17 LLVM itself restored the register with the result.
        spoils_result = convention.startswith("preserve") and self.result.name != "void" and self.version < 18
        # LLVM takes an integer register for such a number, and then writes anything or crashes.
        spoils_x87 = convention == "vectorcall" and X87 & {self.result.name, *(parameter.type.name for parameter in self.parameters)}
        return "" if spoils_result or spoils_x87 else convention

    def pick_forwarding(self):
        """How the function hands its arguments to another one of its module, which does the work."""
        if self.unnamed or self.hops or self.convention or self.kind == "constructor" or not self.likely(0.4):
            return ""
        return self.chance.choice(("static", "weak"))

    @property
    def is_inline(self):
        return self.kind in ("inline", "template")

    @property
    def is_member(self):
        return self.kind in ("method", "virtual", "second", "static", "constructor")

    # ---- Text ----

    def declared_parameters(self):
        words = [parameter.declaration for parameter in self.parameters]
        if self.unnamed:
            words.append("...")
        return ", ".join(words) or "void"

    def attributes(self):
        words = [self.convention] if self.convention else []
        words += ["weak"] if self.kind == "weak" else []
        return f"__attribute__(({', '.join(words)})) " if words else ""

    def header(self):
        """Types and declarations, for both sides."""
        text = "".join(made.text for made in self.types.made)
        if self.callback:
            given, back = self.callback
            text += f"typedef {back.name} (*{self.name}_back)({given.name});\nextern {self.name}_back {self.name}_call_back;\n"
        if self.hops:
            text += f"extern u64 {self.name}_left;\nextern char *{self.name}_low, *{self.name}_high;\n"
            text += f"{self.result.name} {self.name}_other({self.declared_parameters()});\n"
        if self.is_member:
            return text + self.class_text()
        if self.is_inline:
            return text + self.helper() + self.definition()
        # Else its name would be one that shared objects can't export.
        label = f' __asm__("{self.name}_wide")' if self.convention == "vectorcall" else ""
        return text + f"{self.attributes()}{self.result.name} {self.name}({self.declared_parameters()}){label};\n"

    def class_text(self):
        head = f"{self.result.name} {self.name}({self.declared_parameters()});"
        box = f"struct box{self.seed}"
        if self.kind == "constructor":
            return f"{box} {{ u64 hash; box{self.seed}({self.declared_parameters()}); }};\n"
        if self.kind == "second":  # called through a thunk
            return (f"struct face{self.seed} {{ u64 shift = 2; virtual {head} }};\n"
                    f"{box} : Both, face{self.seed} {{ u64 own = 4; {head} }};\n")
        word = {"virtual": "virtual ", "static": "static "}.get(self.kind, "")
        return f"{box} {{ u64 own = 4; {word}{head} }};\n"

    # ---- The callee ----

    def callee(self):
        if self.is_inline:
            return self.instance()
        return self.globals() + self.helper() + self.definition() + self.face()

    def globals(self):
        if self.hops:
            return f"u64 {self.name}_left;\nchar *{self.name}_low, *{self.name}_high;\n"
        return ""

    def face(self):
        if self.kind != "second":
            return ""
        return self.definition_of(f"face{self.seed}::{self.name}", "u64 h = shift;\n    " + self.given_back())

    def instance(self):
        if self.kind != "template":
            return ""
        return f"void *volatile {self.name}_here = (void *){self.name}<{self.seed}>;\n"

    def helper(self):
        if not self.forwards:
            return ""
        storage = "static" if self.forwards == "static" else "__attribute__((weak))"
        storage = "inline" if self.is_inline else storage
        return (f"NOINLINE {storage} {self.result.name} {self.name}_helper({self.declared_parameters()}) {{\n    "
                + self.work() + "\n}\n")

    def definition(self):
        name = f"box{self.seed}::{self.name}" if self.is_member else self.name
        if self.kind == "constructor":
            return f"box{self.seed}::box{self.seed}({self.declared_parameters()}) {{\n    {self.work()}\n}}\n"
        body = self.forward() if self.forwards else self.hop("_other") if self.hops else self.work()
        return self.definition_of(name, body)

    def definition_of(self, name, body):
        head = {"inline": "NOINLINE inline ", "template": "template <int N> NOINLINE "}.get(self.kind, "")
        return f"{self.attributes()}{head}{self.result.name} {name}({self.declared_parameters()}) {{\n    {body}\n}}\n"

    def forward(self):
        given = ", ".join(parameter.argument for parameter in self.parameters)
        before = f"u64 s = {self.seed}; (void)s;"
        return f"{before}\n    return {self.name}_helper({given});"

    def work(self):
        lines = [f"u64 h = {self.seed};"]
        if self.is_member and self.kind not in ("static", "constructor") and not self.forwards:
            lines.append("h = mix(h, own);")
        for parameter in self.parameters:
            lines.append(f"h = mix(h, hash_{parameter.type.name}(&{parameter.name}));")
            if not parameter.mode:
                lines.append(f"h = mix(h, misplaced(&{parameter.name}, __alignof__({parameter.type.name})));")
        lines += self.walk()
        lines.append(f'say("received", {self.seed}, h);')
        if self.callback:
            lines += self.call_back()
        lines.append("u64 s = h; (void)s;")
        for parameter in self.parameters:
            lines.append(f"fill_{parameter.type.name}(&{parameter.name}, &s);")
        if self.parameters:
            last = self.parameters[-1]
            lines.append(f"h = mix(h, hash_{last.type.name}(&{last.name}));")
        if self.throws:
            lines.append("if (h & 1) throw Thrown{h};" if self.kind != "constructor" else "throw Thrown{h};")
        lines.append(self.given_back())
        return "\n    ".join(lines)

    def given_back(self):
        if self.kind == "constructor":
            return "hash = h;"
        if self.result.name == "void":
            return f'say("returns", {self.seed}, h);'
        return f"{self.result.name} r; u64 n = h; fill_{self.result.name}(&r, &n); return r;"

    def walk(self):
        if not self.unnamed:
            return []
        lines = [f"va_list list; va_start(list, {self.parameters[-1].name});"]
        for n, type_ in enumerate(self.unnamed):
            lines.append(f"{type_.name} u{n} = va_arg(list, {type_.name}); h = mix(h, hash_{type_.name}(&u{n}));")
        return [*lines, "va_end(list);"]

    def call_back(self):
        given, back = self.callback
        return [f"{given.name} given; u64 m = h; fill_{given.name}(&given, &m); m = hash_{given.name}(&given);",
                f"{back.name} back = {self.name}_call_back(given);",
                f"h = mix(h, hash_{back.name}(&back)); h = mix(h, m == hash_{given.name}(&given));"]

    # ---- Calls in tail position ----

    def hop(self, other):
        name = self.name
        lines = [f"u64 d = depth(&{name}_low, &{name}_high, (char *)__builtin_frame_address(0));",
                 f"u64 h = mix({self.seed}, d > {MOST_DEPTH});"]
        lines += [f"h = mix(h, hash_{parameter.type.name}(&{parameter.name}));" for parameter in self.parameters]
        lines.append(f"if ({name}_left-- == 0) {{ u64 s = h; (void)s; say(\"arrived\", {self.seed}, h); {self.given_back()}"
                     f"{' return;' if self.result.name == 'void' else ''} }}")
        given = ", ".join(self.stepped(parameter) for parameter in self.parameters)
        lines.append(f"MUSTTAIL return {name}{other}({given});")
        return "\n    ".join(lines)

    @staticmethod
    def stepped(parameter):
        return f"{parameter.name} + 1" if parameter.type.name in ("i64", "f64", "i128") else parameter.name

    # ---- The caller ----

    def caller(self):
        text = ""
        if self.callback:
            given, back = self.callback
            text += (f"static {back.name} {self.name}_answer({given.name} v) {{\n    u64 s = hash_{given.name}(&v);\n"
                     f'    say("asked", {self.seed}, s);\n    {back.name} r; fill_{back.name}(&r, &s); '
                     f"fill_{given.name}(&v, &s); return r;\n}}\n"
                     f"{self.name}_back {self.name}_call_back = {self.name}_answer;\n")
        if self.hops:
            text += f"{self.result.name} {self.name}_other({self.declared_parameters()}) {{\n    {self.hop('')}\n}}\n"
        return text + f"NOINLINE static void call{self.seed}(void) {{\n    " + "\n    ".join(self.calls()) + "\n}\n"

    def calls(self):
        seed = self.seed
        lines = [f"u64 s = {seed * 7919 + 1}, kept = 0, now = 0; (void)s;", "volatile u64 before = CANARY;"]
        if self.is_member and self.kind not in ("static", "constructor"):
            lines.append(f"box{seed} object; box{seed} *volatile seen = &object;")
        if not self.is_member:
            name = f"{self.name}<{seed}>" if self.kind == "template" else self.name
            # The attributes of the convention belong to the type.
            lines.append(f"__typeof__({name}) *volatile at = {name}; u64 first = 1;" if self.kind != "template" else
                         f"auto *volatile at = {name}; u64 first = 1;")
        for parameter in self.parameters:
            lines.append(f"{parameter.type.name} {parameter.name};")
        for n, type_ in enumerate(self.unnamed):
            lines.append(f"{type_.name} u{n}; fill_{type_.name}(&u{n}, &s);")
        lines.append("volatile u64 after = CANARY;")
        lines += self.call(self.direct())
        lines += self.call(self.indirect())
        lines.append(f'say("intact", {seed}, before == CANARY && after == CANARY);')
        for made in self.types.made:
            if made.is_class:
                lines.append(f'say("copies", {seed}, {made.name}::copies); ')
        return lines

    def direct(self):
        if self.kind == "template":
            return f"{self.name}<{self.seed}>"
        return {"method": "object.", "virtual": "object.", "second": "object.", "static": f"box{self.seed}::"}.get(
            self.kind, "") + (f"box{self.seed}" if self.kind == "constructor" else self.name)

    def indirect(self):
        box = f"box{self.seed}"
        if self.kind == "second":
            return f"static_cast<face{self.seed} *>(seen)->{self.name}"
        if self.kind in ("method", "virtual"):
            return f"(seen->*&{box}::{self.name})" if self.chance.random() < 0.5 else f"seen->{self.name}"
        return self.direct() if self.is_member else "at"

    def call(self, function):
        given = [parameter.argument for parameter in self.parameters] + [f"u{n}" for n in range(len(self.unnamed))]
        call = f"{function}({', '.join(given)})"
        lines = [f"fill_{parameter.type.name}(&{parameter.name}, &s);" for parameter in self.parameters]
        if self.hops:
            lines.append(f"{self.name}_left = {HOPS}; {self.name}_low = {self.name}_high = 0;")
        lines += [f"kept = 0; {self.hashes('kept')} litter();"]
        lines += self.checked(call)
        lines += [f"now = 0; {self.hashes('now')}", f'say("kept", {self.seed}, kept == now);']
        given_to = [p for p in self.parameters if p.mode]
        if given_to:
            lines.append("now = 0; " + " ".join(f"now = mix(now, hash_{p.type.name}(&{p.name}));" for p in given_to)
                         + f' say("changed", {self.seed}, now);')
        return lines

    def hashes(self, variable):
        kept = [(p.type, p.name) for p in self.parameters if p.is_kept] + [(t, f"u{n}") for n, t in enumerate(self.unnamed)]
        return " ".join(f"{variable} = mix({variable}, hash_{type_.name}(&{name}));" for type_, name in kept)

    def checked(self, call):
        seed = self.seed
        if self.kind == "constructor":
            taken = f'box{seed} made = {call}; say("result", {seed}, made.hash);'
        elif self.result.name == "void":
            taken = f"{call};"
        else:
            name = self.result.name
            taken = f'{name} r = {call}; say("result", {seed}, hash_{name}(&r));'
        if self.throws:
            return [f"try {{ {taken} }}", f'catch (const Thrown &thrown) {{ say("caught", {seed}, thrown.hash); }}']
        return [f"{{ {taken} }}"]
