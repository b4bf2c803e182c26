"""The jobs of examples/ci: their own lines of shell run on a change that misses more, and on one that changes nothing."""

import os
import re
import textwrap
import unittest
from pathlib import Path

from ..support import tools

CI = tools.ROOT / "examples" / "ci"
ACTION = (CI / "github" / "action.yml").read_text()
WORKFLOW = (CI / "github" / "workflow.yml").read_text()
GITLAB = (CI / "gitlab" / "trackway.gitlab-ci.yml").read_text()
MARKER = "<!-- trackway diff -->"
BROKEN_BUDGET = 3

# 16,384 items: each round misses on every line. Larger items take more lines.
SOURCE = """#include <stdio.h>
#include <stdlib.h>
struct item { long key; long rest[REST]; };
int main(int argc, char **argv) {
    FILE *input = fopen(argv[1], "r");
    long count, rounds, sum = 0;
    if (!input || fscanf(input, "%ld %ld", &count, &rounds) != 2)
        return 1;
    struct item *items = calloc(count, sizeof *items);
    for (long round = 0; round < rounds; round++)
        for (long i = 0; i < count; i++)
            sum += items[i].key++;
    printf("%ld\\n", sum);
    return argc != 2;
}
"""
MAKEFILE = "prog: prog.c\n\t$(CC) $(CFLAGS) -o $@ prog.c\n"
# What a job may call beside Trackway notes its words, and says what it is told to say.
FAKE = '#!/bin/sh\nprintf "%s\\n" "$0 $*" >>"$CALLS"\nfor word; do case $word in --paginate) printf "%s" "$EARLIER" ;; esac; done\n'


def block(text, begin):
    """The lines of a literal block, which begins behind that line."""
    lines = text[text.index(begin) + len(begin):].lstrip("\n").split("\n")
    indent = len(lines[0]) - len(lines[0].lstrip())
    kept = []
    for line in lines:
        if line.strip() and not line.startswith(" " * indent):
            break
        kept.append(line)
    return textwrap.dedent("\n".join(kept))


def unquoted(value):
    return value[1:-1] if value[:1] == value[-1:] == '"' else value


def defaults():
    """The inputs of the action, with the default where they have one."""
    inputs = ACTION[ACTION.index("\ninputs:\n"):ACTION.index("\nruns:\n")]
    found = re.split(r"^  (\w+):\n", inputs, flags=re.MULTILINE)[1:]
    values = (re.search(r"^    default: (.*)$", body, re.MULTILINE) for body in found[1::2])
    return {name: value and unquoted(value[1]) for name, value in zip(found[::2], values, strict=True)}


def given():
    """What the workflow gives to the action."""
    return dict(re.findall(r"^          (\w+): (.*)$", WORKFLOW[WORKFLOW.index("        with:\n          package"):], re.MULTILINE))


def steps(inputs):
    """Name, environment and lines of each step of the action."""
    for step in ACTION.split("\n    - name: ")[1:]:
        settings = step[:step.index("      run: |")]
        named = re.findall(r"^        (\w+): \$\{\{ inputs\.(\w+) \}\}$", settings, re.MULTILINE)
        yield step.split("\n")[0], {name: inputs[source] for name, source in named}, block(step, "      run: |")


def gitlab_variables():
    text = block(GITLAB, "  variables:")
    return {name: unquoted(value) for name, value in re.findall(r"^(\w+): (.*)$", text, re.MULTILINE)}


class Jobs(unittest.TestCase):
    def setUp(self):
        folder = tools.folder()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()
        self.project = self.folder / "project"
        self.calls = self.folder / "calls"
        programs = self.folder / "programs"
        for made in (self.project, programs, self.folder / "runner"):
            made.mkdir()
        for name in ("gh", "curl", "apt-get"):
            (programs / name).write_text(FAKE)
            (programs / name).chmod(0o755)
        (programs / "trackway").symlink_to(tools.TRACKWAY)
        person = {"NAME": "Somebody", "EMAIL": "somebody@example.org"}
        self.environment = {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "HOME": str(self.folder),
            "GIT_CONFIG_GLOBAL": "/dev/null",
            **{f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in person.items()},
            "CALLS": str(self.calls),
            "EARLIER": "",
        }
        (self.project / "Makefile").write_text(MAKEFILE)
        (self.project / "input.txt").write_text("16384 10\n")
        self.git("init", "--quiet")
        self.base = self.commit(SOURCE.replace("REST", "3"))

    def git(self, *words):
        return self.shell("git", *words).stdout.strip()

    def shell(self, *words, check=True, **environment):
        return tools.run(*words, check=check, cwd=self.project, env={**self.environment, **environment})

    def commit(self, source):
        (self.project / "prog.c").write_text(source)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "A change")
        return self.git("rev-parse", "HEAD")

    def commit_of_larger_items(self):
        return self.commit(SOURCE.replace("REST", "7"))

    def commit_of_a_comment(self):
        return self.commit("/* Sums keys. */" + SOURCE.replace("REST", "3"))

    def called(self, program):
        """The words of each call of a program that stands for another one."""
        lines = self.calls.read_text().splitlines() if self.calls.exists() else []
        calls = (line.split(" ", 1) for line in lines)
        return [words for path, words in calls if Path(path).name == program]

    def github(self, **inputs):
        """Runs the steps as GitHub does, up to the first that fails; its name, and what it printed."""
        runner = self.folder / "runner"
        inputs = {**defaults(), **given(), "package": "", "base": self.base, **inputs}
        for name, settings, lines in steps(inputs):
            script = self.folder / "step.sh"
            script.write_text(lines)
            environment = {
                "RUNNER_TEMP": str(runner),
                "GITHUB_WORKSPACE": str(self.project),
                "GITHUB_ACTIONS": "true",
                "GITHUB_STEP_SUMMARY": str(self.folder / "summary.md"),
                "GITHUB_REPOSITORY": "someone/something",
                **settings,
            }
            done = self.shell("bash", "--noprofile", "--norc", "-eo", "pipefail", script, check=False, **environment)
            if done.returncode != 0:
                return name, done
        return "", done

    def gitlab(self, **variables):
        """Runs the job's lines in one shell, as GitLab does."""
        parts = [block(GITLAB, "  before_script:\n    - |"), *(block(part, "") for part in self.parts())]
        script = self.folder / "job.sh"
        script.write_text("set -e\n" + "\n".join(parts))
        predefined = {
            "CI_PROJECT_DIR": str(self.project),
            "CI_MERGE_REQUEST_DIFF_BASE_SHA": self.base,
            "CI_API_V4_URL": "https://gitlab.example.org/api/v4",
            "CI_MERGE_REQUEST_PROJECT_ID": "7",
            "CI_MERGE_REQUEST_IID": "11",
        }
        environment = {**predefined, **gitlab_variables(), "TRACKWAY_PACKAGE": "", **variables}
        return self.shell("sh", script, check=False, **environment)

    @staticmethod
    def parts():
        script = GITLAB[GITLAB.index("  script:\n"):GITLAB.index("  artifacts:\n")]
        return script.split("    - |\n")[1:]


class GitHub(Jobs):
    def test_the_workflow_gives_what_the_action_takes(self):
        inputs = defaults()
        self.assertLessEqual(set(given()), set(inputs))
        required = {name for name, value in inputs.items() if value is None}
        self.assertLessEqual(required, set(given()))

    def test_more_misses_fail_and_are_named(self):
        self.commit_of_larger_items()
        step, done = self.github(comment="5")
        self.assertEqual((step, done.returncode), ("Check budgets", BROKEN_BUDGET), done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"::error .*item\.key")
        summary = (self.folder / "summary.md").read_text()
        self.assertTrue(summary.startswith(MARKER), summary[:200])
        self.assertIn("item", summary)
        asked, posted = self.called("gh")
        self.assertIn("repos/someone/something/issues/5/comments", asked)
        self.assertRegex(posted, r"--method POST .*/issues/5/comments --field body=@/.*/comment\.md$")

    def test_a_change_of_nothing_passes_and_replaces_the_comment(self):
        self.commit_of_a_comment()
        self.environment["EARLIER"] = "17"
        step, done = self.github(comment="5")
        self.assertEqual(step, "", done.stdout + done.stderr)
        self.assertIn("--method PATCH repos/someone/something/issues/comments/17 ", self.called("gh")[1])

    def test_without_a_number_nobody_comments(self):
        self.commit_of_a_comment()
        step, done = self.github(comment="")
        self.assertEqual(step, "", done.stdout + done.stderr)
        self.assertEqual(self.called("gh"), [])

    def test_a_package_is_fetched_and_installed(self):
        environment = {"RUNNER_TEMP": str(self.folder), "PACKAGE": given()["package"]}
        (_, _, lines), *_ = steps({**defaults(), **given()})
        self.shell("bash", "-c", f"sudo() {{ \"$@\"; }}; export -f sudo\n{lines}", **environment)
        self.assertIn(given()["package"], self.called("curl")[0])
        self.assertEqual(self.called("apt-get")[-1].split()[0], "install")


class GitLab(Jobs):
    def test_more_misses_fail_and_are_noted(self):
        self.commit_of_larger_items()
        done = self.gitlab(TRACKWAY_TOKEN="secret")
        self.assertEqual(done.returncode, BROKEN_BUDGET, done.stdout + done.stderr)
        self.assertIn("item.key", done.stdout + done.stderr)
        results = self.project / "trackway-results"
        self.assertTrue((results / "comment.md").read_text().startswith(MARKER))
        self.assertIn("merge_requests/11/notes", self.called("curl")[0])
        for artifact in re.findall(r"^      - (trackway-results/\S+)$", GITLAB, re.MULTILINE):
            self.assertTrue((self.project / artifact).is_file(), artifact)

    def test_a_change_of_nothing_passes(self):
        self.commit_of_a_comment()
        done = self.gitlab()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(self.called("curl"), [])


if __name__ == "__main__":
    unittest.main()
