"""A Spark cluster of its own on this machine: a master and workers on the loopback interface, while a test runs."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Self

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / "build/python/bin/python"
READY_SECONDS = 90
STOP_SECONDS = 20
# Half of the time of the tests went to compiling what runs for seconds.
SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def spark_home() -> Path:
    """The folder of the PySpark that is installed in build/python."""
    found = sorted((ROOT / "build/python/lib").glob("python3*/site-packages/pyspark"))
    if not found:
        raise FileNotFoundError("no PySpark in build/python; run setup/spark")
    return found[-1]


class Cluster:
    """Starts master and workers; `url` is what to connect to. All are ended with it, by their process ids."""

    def __init__(self, workers: int = 2, cores: int = 1, memory: str = "1g") -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="trackway-spark-"))
        self.processes: list[subprocess.Popen[bytes]] = []
        try:
            self._start(workers, cores, memory)
        except BaseException:
            self.stop()
            raise

    def _start(self, workers: int, cores: int, memory: str) -> None:
        self._run("master", "org.apache.spark.deploy.master.Master", "--port", "0", "--webui-port", "0")
        self.url = self._wait_for("master", r"(spark://127\.0\.0\.1:\d+)")
        options = ["--cores", str(cores), "--memory", memory, "--port", "0", "--webui-port", "0"]
        for number in range(workers):
            work = ["--work-dir", str(self.folder / f"work-{number}")]
            self._run(f"worker-{number}", "org.apache.spark.deploy.worker.Worker", *options, *work, self.url)
        for number in range(workers):
            self._wait_for(f"worker-{number}", r"(Successfully registered with master)")

    def _run(self, name: str, main: str, *arguments: str) -> None:
        log = self.folder / f"{name}.log"
        environment = self.environment()
        with open(log, "wb", opener=lambda path, flags: os.open(path, flags, 0o600)) as output:
            command = [spark_home() / "bin/spark-class", main, "--host", "127.0.0.1", *arguments]
            process = subprocess.Popen(
                [str(part) for part in command], stdout=output, stderr=output, env=environment, start_new_session=True
            )
        self.processes.append(process)

    def environment(self) -> dict[str, str]:
        """Of master, workers and driver: nothing of it listens elsewhere than on the loopback interface."""
        return dict(
            os.environ,
            SPARK_HOME=str(spark_home()),
            SPARK_LOCAL_IP="127.0.0.1",
            SPARK_LOCAL_HOSTNAME="127.0.0.1",
            SPARK_DAEMON_MEMORY="256m",
            SPARK_LOCAL_DIRS=str(self.folder),
            JDK_JAVA_OPTIONS=SHORT_LIVED,
            PYSPARK_PYTHON=str(PYTHON),
            PYSPARK_DRIVER_PYTHON=str(PYTHON),
        )

    def log(self, name: str) -> str:
        """What a process has written so far."""
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def _wait_for(self, name: str, pattern: str) -> str:
        end = time.monotonic() + READY_SECONDS
        while time.monotonic() < end:
            found = re.search(pattern, self.log(name))
            if found:
                return found[1]
            time.sleep(0.1)
        raise TimeoutError(f"{name} isn't ready after {READY_SECONDS} s:\n{self.log(name)}")

    def stop(self) -> None:
        """Ends all processes and removes what they wrote."""
        for process in reversed(self.processes):
            end_group(process, signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                end_group(process, signal.SIGKILL)
                process.wait()
        self.processes = []
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def end_group(process: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    """Signals a process that was started here, and what it started."""
    if process.poll() is None:
        os.killpg(process.pid, number)
