"""Layouts of structures, and what another layout would gain, compared with programs that were edited accordingly."""

import json
import re
import unittest

from ..support import tools

# L2 is far smaller than the data of the small inputs, so that layouts matter.
CACHES = "L1=16K,4,64:L2=128K,8,64"
TOLERANCE = 0.05
SPLIT_FLAGS = ("-O2", "-g", "-DSPLIT")
# The L1 of each thread, and an L2 for all of them that holds everything, so that the threads' pace makes no difference.
SHARED_CACHES = "L1=16K,4,64:L2=2M,8,64,shared"
# Small programs make the same accesses when they are edited; what differs is where their few other variables lie.
SMALL_TOLERANCE = 0.001


def sources(workload):
    folder = tools.ROOT / "workloads" / workload
    return sorted(folder.glob("*.c")) or [folder.with_suffix(".cpp")]


def compiled(workload, *flags):
    def make():
        folder = tools.folder()
        compiled.folders.append(folder)
        return tools.compile_traced(f"{folder.name}/{workload}", sources(workload), *flags, oracle=False)

    return tools.once(("layout", workload, flags), make)


compiled.folders = []


def answer(verb, *arguments):
    return json.loads(tools.trackway(verb, *arguments, "--json").stdout)


def table(report, name):
    return next(table["rows"] for table in report["tables"] if table["name"] == name)


def by(rows, key):
    return {row[key]: row for row in rows}


class Layout(unittest.TestCase):
    def setUp(self):
        folder = tools.folder()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def recorded(self, name, program, size):
        trace = f"{self.folder}/{name}"
        tools.record(trace, program, size)
        return trace

    def test_members_with_holes_and_what_accesses_them(self):
        trace = self.recorded("trace", compiled("simplex", "-O2", "-g"), "small")
        report = answer("layout", trace, "--type", "arc", "--top", "0", "--no-simulate")
        arc = by(table(report, "structures"), "type")["arc"]
        self.assertEqual([arc[key] for key in ("size_bytes", "alignment_bytes", "members", "hole_bytes", "padding_bytes")],
                         [64, 8, 8, 4, 0])
        members = table(report, "members")
        places = [(row["offset_bytes"], row["size_bytes"], row["member"]) for row in members if row["member"] != "(all of it)"]
        self.assertEqual(places, [(0, 8, "cost"), (8, 8, "tail"), (16, 8, "head"), (24, 4, "ident"), (28, 4, "(hole)"),
                                  (32, 8, "nextout"), (40, 8, "nextin"), (48, 8, "flow"), (56, 8, "org_cost")])
        fields = tools.report(trace, "--by", "field", "--top", "0")["tables"][0]["rows"]
        for row in members:
            if not row["member"].startswith("("):
                # `arc.{head|tail}` counts for each of both.
                named = re.compile(rf"arc\.({row['member']}|\{{(.*\|)?{row['member']}(\|.*)?\}})")
                of_member = [field for field in fields if named.fullmatch(field["field"])]
                for number in ("accesses", "bytes", "l1_misses", "l2_misses"):
                    expected = sum(field[number] for field in of_member)
                    self.assertEqual(row[number], expected, (row["member"], number))
        heat = {row["member"]: row["heat"] for row in members}
        self.assertEqual([heat[name] for name in ("ident", "cost", "tail", "head", "flow", "nextin")],
                         ["hot"] * 4 + ["cold"] * 2)
        proposals = table(report, "proposals")
        self.assertIn("--split 'arc:cost,tail,head,ident'", [row["options"] for row in proposals])
        definition = [row["source"] for row in table(report, "definition")]
        self.assertIn("    struct node *tail;", definition)

    def test_the_definition_compiles(self):
        trace = self.recorded("trace", compiled("simplex", "-O2", "-g"), "small")
        report = answer("whatif", "--split", "arc:ident,cost,tail,head", trace)
        source = f"{self.folder}/arc.c"
        lines = [row["source"] for row in table(report, "definition")]
        checks = ["typedef long cost_t, flow_t;", *lines,
                  '_Static_assert(sizeof(struct arc) == 40 && sizeof(struct arc_rest) == 32, "as predicted");']
        with open(source, "w") as file:
            file.write("\n".join(checks) + "\n")
        tools.run(f"clang-{tools.LLVM_VERSION}", "-fsyntax-only", "-Werror", source)

    def compare(self, workload, size, *question):
        """Misses in all levels: those that the unedited program's trace predicts, and those of the edited program."""
        before = self.recorded("before", compiled(workload, "-O2", "-g"), size)
        after = self.recorded("after", compiled(workload, *SPLIT_FLAGS), size)
        predicted = answer("whatif", *question, "--cache-before", CACHES, before)
        misses = by(table(predicted, "levels"), "what")
        actual = table(tools.report(after, "--cache", CACHES), "caches")
        unchanged = table(tools.report(before, "--cache", CACHES), "caches")
        for row, old in zip(actual, unchanged, strict=True):
            level = misses[f"L{row['level']} misses"]
            self.assertEqual(level["before"], old["misses"], f"L{row['level']}")
            self.assertAlmostEqual(level["after"] / row["misses"], 1, delta=TOLERANCE,
                                   msg=f"L{row['level']}: {level['after']} predicted, {row['misses']} found")
        return predicted, misses

    def test_a_split_with_pointers_is_predicted(self):
        predicted, misses = self.compare("simplex", 700, "--split", "arc:ident,cost,tail,head")
        self.assertLess(misses["L2 misses"]["ratio"], 0.8)
        done = table(predicted, "rewritten")[0]
        self.assertEqual((done["objects"], done["left"]), (700 * 9, 0))

    def test_a_split_with_indices_is_predicted(self):
        predicted, misses = self.compare("fluid", 1000, "--split", "Cell:next", "--link", "index")
        self.assertLess(misses["L1 misses"]["ratio"], 0.6)
        self.assertEqual(table(predicted, "rewritten")[0]["pointer_loads"], 0)

    def test_what_changes_nothing_changes_nothing(self):
        trace = self.recorded("trace", compiled("simplex", "-O2", "-g"), "small")
        order = "arc:cost,tail,head,ident,nextout,nextin,flow,org_cost"
        for row in table(answer("whatif", "--reorder", order, "--cache-before", CACHES, trace), "levels"):
            if row["what"] in ("accesses", "L1 misses"):
                # The arcs lie elsewhere, but as they did.
                self.assertAlmostEqual(row["after"] / row["before"], 1, delta=0.02, msg=row)

    def test_other_caches_and_pages(self):
        trace = self.recorded("trace", compiled("simplex", "-O2", "-g"), "small")
        levels = by(table(answer("whatif", "--cache", CACHES, trace), "levels"), "what")
        expected = table(tools.report(trace, "--cache", CACHES), "caches")
        self.assertEqual([levels[f"L{row['level']} misses"]["after"] for row in expected],
                         [row["misses"] for row in expected])
        pages = by(table(answer("whatif", "--huge-pages", trace), "levels"), "what")
        self.assertEqual(pages["L1 misses"]["before"], pages["L1 misses"]["after"])
        self.assertLess(pages["TLB1 misses"]["after"], pages["TLB1 misses"]["before"])

    def test_wrong_questions_are_refused(self):
        trace = self.recorded("trace", compiled("simplex", "-O2", "-g"), "small")
        for question, complaint in (
            (["--split", "arc:idant"], "arc has no member idant; its members are cost,"),
            (["--split", "ark:ident"], "knows no structure ark"),
            (["--align", "arc:48"], "power of two"),
            (["--pad", "arc"], "expected TYPE:BYTES or TYPE.MEMBER"),
            (["--soa", "arc", "--pad", "arc:8"], "changed twice"),
            ([], "nothing would change"),
        ):
            done = tools.trackway("whatif", *question, trace, check=False)
            self.assertEqual(done.returncode, 2, question)
            self.assertIn(complaint, done.stderr)


class EditedPrograms(unittest.TestCase):
    """Small programs, recorded as they are and edited as asked: what is predicted of the one is found in the other."""

    def setUp(self):
        folder = tools.folder()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def recorded(self, name, *flags):
        variant = name + "".join(flags)
        program = tools.compile_traced(
            f"{self.folder}/{variant}", [tools.PROGRAMS / f"{name}.c"], "-O1", "-g", "-pthread", *flags, oracle=False
        )
        trace = f"{self.folder}/{variant}.trackway"
        tools.record(trace, program)
        return trace

    def compare(self, name, edit, question, caches=CACHES, common=(), few=0):
        """Misses of each level: original, predicted, edited. Counts may differ by `few` besides the tolerance."""
        before, after = self.recorded(name, *common), self.recorded(name, *common, edit)
        predicted = answer("whatif", *question, "--cache-before", caches, before)
        misses = by(table(predicted, "levels"), "what")
        found = []
        for row in table(tools.report(after, "--cache", caches), "caches"):
            level = misses[f"L{row['level']} misses"]
            with self.subTest(edit=edit, level=row["level"]):
                self.assertAlmostEqual(level["after"], row["misses"], delta=SMALL_TOLERANCE * row["misses"] + few)
            found.append((level["before"], level["after"], row["misses"]))
        done = table(predicted, "rewritten")[0]
        self.assertEqual((done["blocks"], done["left"]), (1, 0), done)
        self.assertGreater(done["rewritten_share"], 0.99)
        return found

    def test_padding_is_predicted(self):
        (l1, padded, _), _ = self.compare("layouts", "-DPAD", ["--pad", "item:40"])
        self.assertGreater(padded, 1.3 * l1)

    def test_a_member_on_a_line_of_its_own_is_predicted(self):
        (l1, padded, _), _ = self.compare("layouts", "-DLINE", ["--pad", "item.value"])
        self.assertGreater(padded, 2 * l1)

    def test_alignment_is_predicted(self):
        _, (l2, aligned, _) = self.compare("layouts", "-DALIGN", ["--align", "item:32"])
        self.assertGreater(aligned, 1.2 * l2)

    def test_a_structure_of_arrays_is_predicted(self):
        _, (l2, arrays, _) = self.compare("layouts", "-DARRAYS", ["--soa", "item"])
        self.assertGreater(arrays, 2 * l2)

    def test_layouts_of_what_threads_work_on_are_predicted(self):
        threads = ["-DTHREADS=4"]
        # Stacks and the threads' own variables.
        few = 20
        (l1, arrays, _), _ = self.compare("layouts", "-DARRAYS", ["--soa", "item"], SHARED_CACHES, threads, few)
        self.assertGreater(arrays, 1.2 * l1)
        _, (l2, padded, _) = self.compare("layouts", "-DPAD", ["--pad", "item:40"], SHARED_CACHES, threads, few)
        self.assertGreater(padded, 2 * l2)

    def test_padding_against_false_sharing_is_predicted(self):
        (shared, padded, _), _ = self.compare("counters", "-DPAD", ["--pad", "counter:56"], SHARED_CACHES, few=20)
        self.assertGreaterEqual(shared, 7990, "each turn takes the line from another thread")
        self.assertLess(padded, 40)
