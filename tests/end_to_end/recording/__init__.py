"""Tests of recording: what the recorder sees of a program, and what the program and the machine may do to it."""
