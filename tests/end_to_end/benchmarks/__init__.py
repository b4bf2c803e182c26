"""Tests of the arithmetic of benchmarks; what they measure is measured by them alone."""
