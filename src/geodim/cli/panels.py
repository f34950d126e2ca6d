"""Headings under which ``--help`` groups options; options without one concern the command itself."""

from __future__ import annotations

FEATURES = "Which features"
COLUMNS = "Which columns of a table"
SCALING = "Accuracy and units"
RUNNING = "How to compute"
BINARY = "Other measurements of binary data"
OUTPUT = "What to write"
PLANNING = "Plans, before anything is computed"
