"""Finds Rust modules that use each other in a circle.

A module uses another where a path of it (`use`, or `crate::` and `super::` in code) leads there. A module and those within it count
as one place: what a module is split into may use what the module itself has. Tests within files don't count.
"""

import os
import re
import subprocess
import tempfile
from pathlib import Path


def crates(root):
    """Folders of the repository's crates."""
    listed = subprocess.check_output(["git", "ls-files", "*Cargo.toml"], cwd=root, text=True).split()
    return [root / Path(manifest).parent for manifest in listed]


def modules(crate):
    """Files by the path of their module: ("view", "page") is src/view/page.rs."""
    source = crate / "src"
    found = {}
    for file in sorted(source.rglob("*.rs")):
        path = list(file.relative_to(source).with_suffix("").parts)
        if path[-1] in ("mod", "lib", "main"):
            path.pop()
        if "tests" not in path:
            found[tuple(path)] = file
    return found


def paths_of_tree(tree):
    """The paths of a use tree: `a::{b, c::d}` has a::b and a::c::d."""
    tree = " ".join(tree.split())
    opened = tree.find("{")
    if opened < 0:
        return [tree.split(" as ")[0].strip()]
    prefix, inner = tree[:opened], tree[opened + 1 : tree.rindex("}")]
    parts, depth = [""], 0
    for character in inner:
        depth += (character == "{") - (character == "}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [prefix + path for part in parts if part.strip() for path in paths_of_tree(part.strip())]


def used_paths(text):
    text = re.sub(r"//.*", "", text.split("#[cfg(test)]\nmod tests")[0])
    trees = re.findall(r"\buse\s+([^;]+);", text)
    in_code = re.findall(r"\b(?:crate|super)(?:::\w+)+", re.sub(r"\buse\s+[^;]+;", "", text))
    return [path for tree in trees for path in paths_of_tree(tree)] + in_code


def target(path, module, known):
    """The module to which a path leads from within another one; none if that is another crate's."""
    names = path.split("::")
    if names[0] == "crate":
        place = ()
    elif names[0] in ("super", "self"):
        place = module
    else:
        return None
    for name in names:
        if name == "super":
            place = place[:-1]
        elif name not in ("crate", "self"):
            if place + (name,) not in known:
                break
            place += (name,)
    return place


def uses(crate):
    """For each module those that it uses, but for itself, what is within it, and what it is within."""
    known = modules(crate)
    graph = {}
    for module, file in known.items():
        targets = {target(path, module, known) for path in used_paths(file.read_text())}
        graph[module] = {
            place for place in targets if place and place[: len(module)] != module and module[: len(place)] != place
        }
    return graph


def circles(graph):
    """Sets of modules each of which leads to all others of its set."""
    reached = {}
    for start in graph:
        seen, work = set(), [start]
        while work:
            for place in graph.get(work.pop(), ()):
                if place not in seen:
                    seen.add(place)
                    work.append(place)
        reached[start] = seen
    found = {frozenset(other for other in seen if start in reached.get(other, ())) for start, seen in reached.items() if start in seen}
    return sorted(sorted("::".join(module) for module in circle) for circle in found)


def check_itself():
    """A circle of two by way of a third, and none without it."""
    files = {
        "lib.rs": "mod a;\nmod b;\nmod c;\n",
        "a.rs": "use crate::{b::{B, D as E}, c};\n",
        "b.rs": "use std::fmt;\nfn f() -> super::c::C {}\n",
        "c.rs": "pub struct C;\n#[cfg(test)]\nmod tests { use crate::a; }\n",
    }
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(f"{folder}/src")
        for name, text in files.items():
            Path(folder, "src", name).write_text(text)
        assert circles(uses(Path(folder))) == []
        Path(folder, "src/c.rs").write_text("use crate::a::A;\n")
        assert circles(uses(Path(folder))) == [["a", "b", "c"]]


def report(root):
    """Prints the circles of all crates; returns whether there are none."""
    check_itself()
    found = [(crate, circle) for crate in crates(root) for circle in circles(uses(crate))]
    for crate, circle in found:
        print(f"{crate.relative_to(root)}: these modules use each other in a circle: {', '.join(circle)}")
    return not found
