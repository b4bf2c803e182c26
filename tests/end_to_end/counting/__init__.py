"""Tests of programs that count their accesses, and of regions and hardware events in them."""
