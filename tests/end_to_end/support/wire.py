"""Bad connections: a proxy between a recorder and its collector that cuts, damages and delays what passes."""

import contextlib
import random
import socket
import struct
import threading


class Proxy:
    """Forwards connections to `target` (host, port). The first ones are cut, each after a number of bytes from
    `cuts`; of the others, the byte at `damage` of what the recorder sends is changed, once."""

    def __init__(self, target, cuts=(), damage=None, seed=1):
        self.target = target
        self.cuts = list(cuts)
        self.damage = damage
        self.random = random.Random(seed)
        self.connections = 0
        self.flowing = threading.Event()
        self.flowing.set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self):
        return f"tcp://127.0.0.1:{self.listener.getsockname()[1]}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()

    def stop_reading(self):
        self.flowing.clear()

    def go_on_reading(self):
        self.flowing.set()

    def _accept(self):
        while True:
            try:
                recorder, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(recorder,), daemon=True).start()

    def _serve(self, recorder):
        try:
            collector = socket.create_connection(self.target)
        except OSError:
            recorder.close()
            return
        limit = self.cuts.pop(0) if self.cuts else None
        # Either direction may be the one that is cut; replies are short.
        cuts_replies = self.connections > 1 and limit is not None and self.random.random() < 0.3
        if cuts_replies:
            limit %= 400
        back = threading.Thread(
            target=self._forward, args=(collector, recorder, limit if cuts_replies else None, False), daemon=True
        )
        back.start()
        self._forward(recorder, collector, None if cuts_replies else limit, True)
        back.join()
        recorder.close()
        collector.close()

    def _forward(self, source, sink, limit, is_trace):
        passed = 0
        try:
            while True:
                if is_trace:
                    self.flowing.wait()
                data = source.recv(65536)
                if not data:
                    break
                if limit is not None and passed + len(data) > limit:
                    sink.sendall(data[: limit - passed])
                    self._cut(source, sink)
                    return
                sink.sendall(self._damaged(data, passed) if is_trace else data)
                passed += len(data)
        except OSError:
            pass
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _damaged(self, data, passed):
        if self.damage is None or not passed <= self.damage < passed + len(data):
            return data
        changed = bytearray(data)
        changed[self.damage - passed] ^= 0x10
        self.damage = None
        return bytes(changed)

    def _cut(self, *ends):
        """Sometimes politely, sometimes with a reset."""
        for end in ends:
            if self.random.random() < 0.5:
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
