"""Summaries for people, on stdout.

In: a report. Out: text. Start with `summary`.
"""
