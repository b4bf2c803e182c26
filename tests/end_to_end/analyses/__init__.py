"""Tests of what analyses find in traces, against counts of their own."""
