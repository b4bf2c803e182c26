"""Random types: each has functions that fill an object and that hash it, so that padding is never looked at."""

from dataclasses import dataclass

INTEGERS = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "b1")
SCALARS = (*INTEGERS, "i128", "u128", "f32", "f64", "f80", "pointer", "function", "bits2", "bits7", "bits17", "bits33",
           "bits64", "bits65", "bits100", "bits128", "complex32", "complex64", "complex80", "complexi32")
VECTORS = ("i8x8", "i8x16", "i16x3", "i16x32", "i32x2", "i32x4", "i32x8", "i64x2", "i64x8", "f32x2", "f32x3", "f32x4",
           "f32x16", "f64x2", "f64x4")
WIDE = ("i128", "u128", "bits65", "bits100", "bits128")
# Integers with padding, in which a union may hold bits of another member. Until 17 clang doesn't always pass them.
PADDED = ("bits2", "bits7", "bits17", "bits33", "bits65", "bits100")
MEMBERS = ("member", "method")
# What unnamed arguments may be, which narrower types are turned into.
UNNAMED = ("i32", "u32", "i64", "u64", "i128", "f64", "f80", "pointer", "function", "bits33", "bits64", "bits128",
           "complex64", "complex80", "i32x4", "f32x4", "f64x2")
# Bit-fields: base types and the most bits of each.
BIT_FIELDS = (("u8", 8), ("i16", 16), ("u32", 32), ("i32", 32), ("u64", 64))
ALIGNMENTS = (1, 2, 4, 8, 16, 32, 64)
MOST_BYTES = 200
# What a class does by itself when it is copied, moved and destroyed.
CLASS_KINDS = ("copied", "destroyed", "moved", "trivial_abi")


@dataclass(frozen=True)
class Type:
    name: str
    text: str = ""  # its definition
    is_class: bool = False  # C++: more than a sequence of bytes
    is_movable_only: bool = False
    fields: tuple = ()

    @property
    def is_wide(self):
        """Whether it holds an integer of more than 64 bits."""
        return self.name in WIDE or any(field.type.is_wide for field in self.fields)

    @property
    def is_empty(self):
        return bool(self.text) and all(field.type.is_empty for field in self.fields)


@dataclass(frozen=True)
class Field:
    type: Type
    name: str
    bits: int = 0
    length: int = 0
    aligned: int = 0

    def declaration(self):
        bits = f" : {self.bits}" if self.bits else ""
        length = f"[{self.length}]" if self.length else ""
        aligned = f" __attribute__((aligned({self.aligned})))" if self.aligned else ""
        return f"{self.type.name} {self.name}{length}{bits}{aligned};"

    # By way of a variable: the member may be a bit-field, or lie anywhere.
    def fill(self):
        return self.each(f"{{ {self.type.name} v; fill_{self.type.name}(&v, s); p->{self.place} = v; }}")

    def hash(self):
        return self.each(f"{{ {self.type.name} v = p->{self.place}; h = mix(h, hash_{self.type.name}(&v)); }}")

    def each(self, statement):
        return f"for (int i = 0; i < {self.length}; i++) {statement}" if self.length else statement

    @property
    def place(self):
        return f"{self.name}[i]" if self.length else self.name


class Types:
    """The types of one seed."""

    def __init__(self, chance, prefix, is_cxx, version):
        self.chance = chance
        self.prefix = prefix
        self.is_cxx = is_cxx
        self.version = version
        self.made = []

    def any(self):
        """For a parameter or a result."""
        kinds = [self.scalar, self.vector, self.aggregate, self.aggregate, self.aggregate]
        if self.is_cxx:
            kinds += [self.class_, self.pointer_to_member]
        return self.chance.choice(kinds)()

    def unnamed(self):
        """For an argument without a parameter, of those that clang itself takes from where it put them: empty ones it
        doesn't in C++, and until 17 no integers of 128 bits."""
        type_ = self.aggregate() if self.chance.random() < 0.5 else Type(self.chance.choice(UNNAMED))
        is_lost = (type_.is_wide and self.version < 18) or (type_.is_empty and self.is_cxx)
        return Type("u64") if is_lost else type_

    def scalar(self):
        return Type(self.chance.choice(SCALARS))

    def vector(self):
        return Type(self.chance.choice(VECTORS))

    def pointer_to_member(self):
        return Type(self.chance.choice(MEMBERS))

    def aggregate(self, depth=0):
        if self.made and self.chance.random() < 0.25:
            return self.chance.choice([made for made in self.made if not made.is_class] or [self.bytes()])
        make = self.chance.choice((self.bytes, self.words, self.struct, self.struct, self.bit_fields, self.union))
        return make() if make is not self.struct else self.struct(depth)

    # ---- Aggregates ----

    def bytes(self):
        return self.define([Field(Type("u8"), "b", length=self.chance.randint(1, MOST_BYTES))])

    def words(self):
        element = self.chance.choice(("i64", "f64", "u32", "f32", "i128", "f80"))
        width = {"i64": 8, "f64": 8, "u32": 4, "f32": 4, "i128": 16, "f80": 16}[element]
        return self.define([Field(Type(element), "w", length=self.chance.randint(1, MOST_BYTES // width))])

    def struct(self, depth=0):
        fields = [self.field(f"f{n}", depth) for n in range(self.chance.choice((0, 1, 1, 2, 2, 3, 3, 4, 5, 7)))]
        return self.define(fields, packed=self.chance.random() < 0.1)

    def field(self, name, depth):
        if depth < 2 and self.chance.random() < 0.2:
            return Field(self.aggregate(depth + 1), name)
        type_ = self.vector() if self.chance.random() < 0.15 else self.scalar()
        length = self.chance.choice((0, 0, 0, 0, 1, 2, 3))
        aligned = self.chance.choice(ALIGNMENTS) if self.chance.random() < 0.08 else 0
        return Field(type_, name, length=length, aligned=aligned)

    def bit_fields(self):
        fields = []
        for n in range(self.chance.randint(1, 7)):
            base, most = self.chance.choice(BIT_FIELDS)
            fields.append(Field(Type(base), f"f{n}", bits=self.chance.randint(1, most)))
        return self.define(fields)

    def union(self):
        """Filled and hashed by bytes, which all of its members lie within."""
        name = self.name()
        members = [Field(self.member(), f"m{n}") for n in range(self.chance.randint(1, 3))]
        size = " | ".join(f"sizeof({member.type.name})" for member in members)
        size = self.chance.choice((f"({size})", str(self.chance.randint(1, 40))))
        body = " ".join(member.declaration() for member in members)
        text = (f"typedef union {name} {{ {body} u8 bytes[{size}]; }} {name};\n"
                + self.functions(name, ["for (int i = 0; i < (int)sizeof p->bytes; i++) p->bytes[i] = (u8)next(s);"],
                                 ["for (int i = 0; i < (int)sizeof p->bytes; i++) h = mix(h, p->bytes[i]);"]))
        return self.keep(Type(name, text, fields=tuple(members)))

    def member(self):
        type_ = self.scalar()
        return Type("u8") if type_.name in PADDED and self.version < 18 else type_

    def define(self, fields, packed=False):
        name = self.name()
        attributes = ["packed"] if packed else []
        if self.chance.random() < 0.15:
            attributes.append(f"aligned({self.chance.choice(ALIGNMENTS)})")
        attribute = f" __attribute__(({', '.join(attributes)}))" if attributes else ""
        body = " ".join(field.declaration() for field in fields)
        text = f"typedef struct{attribute} {name} {{ {body} }} {name};\n" + self.functions_of(name, fields)
        return self.keep(Type(name, text, fields=tuple(fields)))

    # ---- Classes ----

    def class_(self):
        name, kind = self.name(), self.chance.choice(CLASS_KINDS)
        fields = [self.field(f"f{n}", 2) for n in range(self.chance.randint(0, 4))]
        is_trivial_abi = kind == "trivial_abi"
        # An object in registers has no address to keep.
        own = "" if is_trivial_abi else f"{name} *own;"
        here = "" if is_trivial_abi else "own = this;"
        copy = " ".join(self.copied(field) for field in fields)
        lines = [f"{name}() {{ {here} }}"]
        if kind in ("copied", "trivial_abi"):
            lines.append(f"{name}(const {name} &o) {{ {here} {copy} copies++; }}")
        if kind == "destroyed" and own:
            lines.append(f"{name}(const {name} &o) {{ {here} {copy} }}")
        if kind == "moved":
            lines.append(f"{name}({name} &&o) {{ {here} {copy} copies += 100; }}")
        if kind != "copied" or self.chance.random() < 0.5:
            right = "1" if is_trivial_abi else "own == this"
            lines.append(f"~{name}() {{ ends += {right} ? 1 : 100000; }}")
        attribute = " [[clang::trivial_abi]]" if is_trivial_abi else ""
        body = " ".join(field.declaration() for field in fields)
        text = (f"struct{attribute} {name} {{ static inline u64 copies, ends; {own} {body}\n    "
                + "\n    ".join(lines) + "\n};\n" + self.functions_of(name, fields))
        return self.keep(Type(name, text, is_class=True, fields=tuple(fields), is_movable_only=kind == "moved"))

    @staticmethod
    def copied(field):
        return field.each(f"this->{field.place} = o.{field.place};")

    # ---- Text ----

    def name(self):
        self.names = getattr(self, "names", 0) + 1
        return f"{self.prefix}t{self.names}"

    def keep(self, type_):
        self.made.append(type_)
        return type_

    def functions_of(self, name, fields):
        return self.functions(name, [field.fill() for field in fields], [field.hash() for field in fields])

    def functions(self, name, fill, hash_):
        """A fourth of them can be inlined, so that optimisers see through callers and callees."""
        if self.chance.random() < 0.25:
            before, between, after = "UNUSED static ", " ", ""
        else:
            before, between, after = "HELPER(", ", ", ")"
        return (f"{before}void fill_{name}({name} *p, u64 *s){between}{{\n    " + "\n    ".join([*fill, "show(p);"])
                + f"\n}}{after}\n{before}u64 hash_{name}(const {name} *p){between}{{\n    u64 h = 9;\n    "
                + "\n    ".join([*hash_, "return h;"]) + f"\n}}{after}\n")
