"""Commands in a terminal of a given width."""

import fcntl
import os
import pty
import re
import struct
import termios

CONTROLS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def run(columns, *command, **environment):
    """The lines that a command shows in a terminal without colour, and its exit status."""
    process, terminal = pty.fork()
    if process == 0:
        # The window has its size before the command asks for it.
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        os.environ.update({"NO_COLOR": "1", **environment})
        os.execvp(str(command[0]), [str(word) for word in command])
    shown = b""
    while True:
        try:
            part = os.read(terminal, 1 << 16)
        except OSError:  # the terminal is closed
            break
        if not part:
            break
        shown += part
    os.close(terminal)
    _, status = os.waitpid(process, 0)
    lines = CONTROLS.sub("", shown.decode(errors="replace")).splitlines()
    return [line.rsplit("\r", 1)[-1] for line in lines], os.waitstatus_to_exitcode(status)
