"""The report as a page: one offline HTML file, and what other viewers read.

In: a report document, the C of its steps, a second report to compare with. Out: text. Every number is one of
the document; what is said in words is said in `words`. Start with `page`.
"""

from codegen.page.differences import Change, Differences, Figure, differences
from codegen.page.overlay import overlay
from codegen.page.page import Excerpt, page
from codegen.page.trace import trace

__all__ = ["Change", "Differences", "Excerpt", "Figure", "differences", "overlay", "page", "trace"]
