"""What the suites of benchmarks share: programs to measure, runs, tables, results and targets."""
