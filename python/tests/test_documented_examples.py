"""The Python in the documents runs as it stands there, and what it evaluates can be shown."""

import ast
import importlib.util
import os
import subprocess
import sys
import unittest
from types import ModuleType

from . import traces

# What the text around the examples takes for granted.
GIVEN = """from collections import Counter
import duckdb
import trackway
t0, t1 = 0, 2**63 - 1
"""

BUDGET = '[[budget]]\nmeasure = "accesses"\nmax-share = 1.0\n'


def documented() -> ModuleType:
    spec = importlib.util.spec_from_file_location("documented", traces.ROOT / "tests" / "end_to_end" / "support" / "documented.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["documented"] = module
    spec.loader.exec_module(module)
    return module


def code(document: str) -> str:
    """All Python of a document, in its order."""
    blocks = documented().blocks(document)
    python = [block.text for block in blocks if not block.text.lstrip().startswith(("pip ", "make ", "trackway "))]
    return "\n".join(python)


def showing(source: str) -> str:
    """The same, with what stands alone printed, as an interpreter does: DuckDB, for one, computes only what is shown."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant):
            node.value = ast.Call(ast.Name("print", ast.Load()), [node.value], [])
    return ast.unparse(ast.fix_missing_locations(tree))


class Documents(unittest.TestCase):
    def run_code(self, source: str) -> str:
        folder = traces.folder() / self._testMethodName
        folder.mkdir()
        os.link(traces.recorded("particles.c"), folder / "prog.trackway")
        (folder / "budget.toml").write_text(BUDGET)
        script = folder / "example.py"
        script.write_text(GIVEN + showing(source))
        done = subprocess.run([sys.executable, script], cwd=folder, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, f"{script.read_text()}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def test_the_manual(self) -> None:
        said = self.run_code(code("docs/python.md"))
        self.assertIn("count(DISTINCT (address // 64))", said)

    def test_the_readme(self) -> None:
        (example,) = [block.text for block in documented().blocks("README.md") if block.text.startswith("trace = trackway")]
        self.assertIn("field", self.run_code(example))
