"""The live path: how much longer a traced program takes when its chunks go through a Kafka broker on this machine.

Rows: recorded to /dev/shm; to a collector that writes there; to one that feeds a broker (its log in /dev/shm, too); the
same while Spark, with one core and at the same priority, counts accesses by variable as they come, in a query that has run
for a while. `time` is the program's. `lag` is how long after the program's end all accesses were counted. All of them share
the machine's processors, and on a machine with few of them that is what is measured.
"""

import argparse
import sys

from measuring import kafka, programs, results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    results.add_arguments(parser, rounds=3)
    parser.add_argument("workload", nargs="?", default="tree", help="which one (default tree)")
    parser.add_argument("words", nargs="*", help="its arguments")
    arguments = parser.parse_args()
    if why := kafka.missing():
        sys.exit(f"bench: {why}")
    old = results.earlier(arguments)
    programs.build_tools()
    rows = kafka.measure(arguments.workload, arguments.words, arguments.rounds)
    results.print_machine()
    print(f"{arguments.workload} {' '.join(arguments.words)}\n")
    results.print_table("recorded to", kafka.COLUMNS, rows)
    if old:
        results.compare(old, "recorded to", kafka.COLUMNS, {"live": rows})
    results.write("live", arguments, {"live": rows}, workload=[arguments.workload, *arguments.words])
    print(f"live: kafka {kafka.slowdown(rows):.1f}x")


if __name__ == "__main__":
    main()
