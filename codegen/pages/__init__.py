"""Pages: the look that the HTML pages of tools share.

In: a template below `templates/`, and values. Out: text. Start with `render_page`.
"""

from codegen.pages.html_templates import model_titles, render_page

__all__ = ["model_titles", "render_page"]
