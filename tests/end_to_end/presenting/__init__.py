"""Tests of how results reach the reader: pages, `trackway top`, exports, queries, files, examples of the documents."""
