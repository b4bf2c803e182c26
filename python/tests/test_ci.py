"""The jobs of examples/ci: their commands run as they stand there, on a repository with a base and a change.

GitHub's and GitLab's part is done here: expressions are replaced, variables are set, and `gh` and `curl` write down how
they are called.
"""

import os
import re
import subprocess
import unittest
from pathlib import Path
from typing import Any

import yaml

from . import traces

CI = traces.ROOT / "examples" / "ci"
# 1 MiB of items, read in turn: in the second cache of the jobs, each line of each round misses.
PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
struct item { long key, value; };
static struct item *items;
__attribute__((noinline)) static long add(int count) {
    long sum = 0;
    for (int i = 0; i < count; i++)
        sum += items[i].key;
    return sum;
}
int main(void) {
    items = calloc(65536, sizeof *items);
    long sum = 0;
    for (int round = 0; round < 10; round++)
        items[round].value = sum += add(65536);
    printf("%ld\\n", sum);
    return 0;
}
"""
SLOWER = PROGRAM.replace("    printf", "    items[9].value = sum += add(6554);\n    printf")
SAME = "/* Nothing changed. */\n" + PROGRAM
BUILD, RUN = "trackway cc -O1 -g -o prog src/prog.c", "./prog"
ADD = 9  # the line in `PROGRAM` that reads the keys

FAKE = """#!/bin/bash
printf '%s\\n' "$*" >> "$CALLS"
for word in "$@"; do
    case $word in *@*.md) cat "${word#*@}" > "$CALLS.body" ;; esac
done
case " $* " in *" --jq "*) cat "$CALLS.earlier" 2>/dev/null ;; esac
exit 0
"""


def git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")
    command = ["git", *identity, *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


class Repository:
    """A base and a change, and what the commands of a job wrote."""

    def __init__(self, name: str, change: str) -> None:
        self.folder = traces.folder() / name
        self.files = self.folder / "repository"
        (self.files / "src").mkdir(parents=True)
        git(self.files, "init", "-q")
        for text in (PROGRAM, change):
            (self.files / "src" / "prog.c").write_text(text)
            git(self.files, "add", "-A")
            git(self.files, "commit", "-q", "-m", "A change")
        self.base = git(self.files, "rev-parse", "HEAD~1")
        tools = self.folder / "tools"
        tools.mkdir()
        for tool in ("gh", "curl"):
            (tools / tool).write_text(FAKE)
            (tools / tool).chmod(0o755)
        self.calls = self.folder / "calls"
        (self.folder / "temporary").mkdir()
        path = f"{tools}:{traces.ROOT / 'build' / 'bin'}:{os.environ['PATH']}"
        self.environment = {**os.environ, "PATH": path, "CALLS": str(self.calls), "TRACKWAY_FRESH": "1"}

    def run(self, shell: list[str], script: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
        settings = {**self.environment, **environment}
        return subprocess.run(
            [*shell, script], cwd=self.files, env=settings, capture_output=True, text=True, timeout=600
        )  # fmt: skip

    def body(self) -> str:
        return Path(f"{self.calls}.body").read_text()


class GitHub(unittest.TestCase):
    def setUp(self) -> None:
        self.action: dict[str, Any] = yaml.safe_load((CI / "github" / "action.yml").read_text())

    def resolved(self, text: str, inputs: dict[str, str]) -> str:
        """A value whose expressions are replaced as GitHub does."""
        expressions = {f"inputs.{name}": value for name, value in inputs.items()}
        expressions["github.token"] = "a token"
        return re.sub(r"\$\{\{\s*([\w.-]+)\s*\}\}", lambda match: expressions[match[1]], text)

    def run_action(self, repository: Repository) -> dict[str, subprocess.CompletedProcess[str]]:
        """What each step did, up to the first that failed."""
        given = {"build": BUILD, "program": RUN, "base": repository.base, "comment": "12"}
        defaults = {name: declared["default"] for name, declared in self.action["inputs"].items() if "default" in declared}
        inputs = {name: self.resolved(value, {}) for name, value in defaults.items()} | given
        runner = {
            "RUNNER_TEMP": str(repository.folder / "temporary"),
            "GITHUB_WORKSPACE": str(repository.files),
            "GITHUB_STEP_SUMMARY": str(repository.folder / "summary.md"),
            "GITHUB_REPOSITORY": "owner/name",
        }
        done = {}
        for step in self.action["runs"]["steps"]:
            self.assertEqual(step["shell"], "bash")
            self.assertNotIn("${{", step["run"], "an expression in a command would be run as shell")
            environment = {name: self.resolved(str(value), inputs) for name, value in step["env"].items()}
            done[step["name"]] = repository.run(["bash", "-c"], step["run"], runner | environment)
            if done[step["name"]].returncode != 0:
                break
        return done

    def test_a_change_that_misses_more_is_an_error_at_its_line(self) -> None:
        repository = Repository("github-slower", SLOWER)
        done = self.run_action(repository)
        last = done["Check budgets"]
        self.assertEqual(last.returncode, 3, last.stdout + last.stderr)
        commands = [line for line in last.stdout.splitlines() if line.startswith("::error")]
        self.assertTrue(any(f"file=src/prog.c,line={ADD},title=Trackway::item.key" in line for line in commands), commands)
        body = repository.body()
        self.assertTrue(body.startswith("<!-- trackway diff -->"), body)
        # 1 MiB in ten rounds, and a tenth of a round more.
        self.assertRegex(body, r"<code>item\.key</code> .* 163,8\d\d \| 165,4\d\d \| \+1,6\d\d ")
        self.assertIn("POST repos/owner/name/issues/12/comments", repository.calls.read_text())
        summary = (repository.folder / "summary.md").read_text()
        self.assertIn("<!-- trackway diff -->", summary)
        self.assertIn("<!-- trackway check -->", summary)

    def test_a_change_that_changes_nothing_passes_and_replaces_the_comment(self) -> None:
        repository = Repository("github-same", SAME)
        Path(f"{repository.calls}.earlier").write_text("77\n")
        done = self.run_action(repository)
        for name, step in done.items():
            self.assertEqual(step.returncode, 0, f"{name}: {step.stdout}{step.stderr}")
        self.assertNotIn("::error", done["Check budgets"].stdout)
        self.assertIn("PATCH repos/owner/name/issues/comments/77", repository.calls.read_text())

    def test_the_workflow_gives_the_action_what_it_needs(self) -> None:
        workflow = yaml.safe_load((CI / "github" / "workflow.yml").read_text())
        steps = workflow["jobs"]["memory"]["steps"]
        given = next(step["with"] for step in steps if step.get("uses") == "./.github/actions/trackway")
        inputs = self.action["inputs"]
        self.assertLessEqual(given.keys(), inputs.keys())
        self.assertLessEqual({name for name, declared in inputs.items() if declared.get("required")}, given.keys())


class GitLab(unittest.TestCase):
    def run_job(self, repository: Repository) -> list[subprocess.CompletedProcess[str]]:
        """What each part of the job did, up to the first that failed. GitLab runs all of them in one shell."""
        job = yaml.safe_load((CI / "gitlab" / "trackway.gitlab-ci.yml").read_text())["memory-accesses"]
        variables = {name: str(value) for name, value in job["variables"].items()} | {
            "TRACKWAY_PACKAGE": "",
            "TRACKWAY_BUILD": BUILD,
            "TRACKWAY_PROGRAM": RUN,
            "TRACKWAY_TOKEN": "secret",
            "CI_PROJECT_DIR": str(repository.files),
            "CI_MERGE_REQUEST_DIFF_BASE_SHA": repository.base,
            "CI_API_V4_URL": "https://gitlab.example.org/api/v4",
            "CI_MERGE_REQUEST_PROJECT_ID": "3",
            "CI_MERGE_REQUEST_IID": "12",
        }
        done = []
        for part in [*job["before_script"], *job["script"]]:
            done.append(repository.run(["sh", "-euc"], part, variables))
            if done[-1].returncode != 0:
                break
        return done

    def test_a_change_that_misses_more_fails_with_a_note(self) -> None:
        repository = Repository("gitlab-slower", SLOWER)
        *others, last = self.run_job(repository)
        self.assertEqual([part.returncode for part in others], [0] * 3, [part.stderr for part in others])
        self.assertEqual(last.returncode, 3, last.stdout + last.stderr)
        self.assertRegex(last.stdout, r"item\.key +l2_misses .* NO")
        self.assertRegex(repository.body(), r"<code>item\.key</code>")
        self.assertIn("api/v4/projects/3/merge_requests/12/notes", repository.calls.read_text())

    def test_a_change_that_changes_nothing_passes(self) -> None:
        done = self.run_job(Repository("gitlab-same", SAME))
        self.assertEqual([part.returncode for part in done], [0] * 4, [part.stdout + part.stderr for part in done])
