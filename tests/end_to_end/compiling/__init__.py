"""Tests of programs that `trackway cc` compiles: they do what their plain builds do, and their traces are complete."""
