"""Verbs for real boards: flash, reset, monitor, and what `doctor --board` says."""
