"""A `trackway collect` for a test."""

import re
import signal
import subprocess

from . import tools

LIMIT_S = 120


class Collector:
    """`trackway collect` with these options, and the address at which it listens."""

    def __init__(self, *options, listen="tcp://127.0.0.1:0"):
        command = [tools.TRACKWAY, "collect", "--listen", listen, *options]
        self.process = subprocess.Popen([str(word) for word in command], stderr=subprocess.PIPE, text=True)
        line = tools.read_line(self.process.stderr)
        listening = re.match(r"trackway: listening at (\S+);", line)
        if not listening:
            raise AssertionError(line + self.process.communicate()[1])
        self.address = listening.group(1)

    @property
    def port(self):
        return int(self.address.rsplit(":", 1)[1])

    @property
    def target(self):
        return ("127.0.0.1", self.port)

    def end(self):
        """Waits until it has ended by itself; returns what it said."""
        try:
            said = self.process.communicate(timeout=LIMIT_S)[1]
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError("the collector does not end: " + self.process.communicate()[1]) from None
        if self.process.returncode != 0:
            raise AssertionError(f"status {self.process.returncode}: {said}")
        return said

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)
        return self.end()

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()
