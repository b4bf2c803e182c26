"""An Apache Kafka broker of its own in KRaft mode, on the loopback interface, for tests and benchmarks."""

import base64
import os
import signal
import socket
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
START_LIMIT_S = 120
HEAP = ("-Xms128m", "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:{port},SIGNED://127.0.0.1:{signed},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port},SIGNED://127.0.0.1:{signed}
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SIGNED:SASL_PLAINTEXT
listener.name.signed.sasl.enabled.mechanisms=SCRAM-SHA-256
listener.name.signed.scram-sha-256.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
log.dirs={folder}/logs
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
{more}
"""


# Of the listener that asks who it is.
USER, PASSWORD = "recorder", "only-for-tests"


def jars():
    """The folder of the broker's jars; fetches them the first time."""
    done = subprocess.run([ROOT / "setup" / "kafka"], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"setup/kafka: {done.stderr}")
    return Path(done.stdout.strip())


def free_ports(count):
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [server.getsockname()[1] for server in held]
    for server in held:
        server.close()
    return ports


class Broker:
    """Runs until `stop`. Everything that it writes is in `folder`, which must be a new one."""

    def __init__(self, folder, heap=HEAP, **properties):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.port, self.signed_port, controller = free_ports(3)
        self.heap = heap
        self.classpath = f"{jars()}/*"
        self.settings = self.folder / "server.properties"
        more = "\n".join(f"{name.replace('_', '.')}={value}" for name, value in properties.items())
        self.settings.write_text(
            PROPERTIES.format(
                port=self.port, signed=self.signed_port, controller=controller, folder=self.folder, more=more
            )
        )
        cluster = base64.urlsafe_b64encode(os.urandom(16)).decode().rstrip("=").replace("-", "A")
        user = f"SCRAM-SHA-256=[name={USER},password={PASSWORD}]"
        formatted = subprocess.run(
            self.java("kafka.tools.StorageTool", "format", "-t", cluster, "-c", self.settings, "--add-scram", user),
            capture_output=True,
            text=True,
        )
        if formatted.returncode != 0:
            raise AssertionError(formatted.stdout + formatted.stderr)
        self.process = None
        self.start()

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    @property
    def signed_address(self):
        """Where it asks who it is."""
        return f"127.0.0.1:{self.signed_port}"

    def java(self, *words):
        # Without a configuration log4j says errors only.
        return ["java", *self.heap, "-cp", self.classpath, *(str(word) for word in words)]

    def start(self):
        """Returns when it takes connections."""
        with open(self.folder / "output", "ab") as output:
            self.process = subprocess.Popen(
                self.java("kafka.Kafka", self.settings), stdout=output, stderr=subprocess.STDOUT
            )
        deadline = time.monotonic() + START_LIMIT_S
        while not self.answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise AssertionError("the broker does not start: " + (self.folder / "output").read_text()[-4000:])
            time.sleep(0.2)

    def answers(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
        except OSError:
            return False
        return True

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def stop(self):
        """As a crash would: nothing depends on how it ends."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None
