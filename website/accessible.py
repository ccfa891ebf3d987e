"""Sphinx extension: mend the accessibility faults that the theme's and other extensions' own HTML has.

Done on the finished body of a page, so that it holds without JavaScript too. Each entry says what was wrong; the site
tests run axe over every page and fail when one of them comes back.
"""

MENDS = (
    # A deprecated role, and a list whose items are none.
    ('role="doc-biblioentry"', 'role="listitem"'),
    # One id for every box of a page; nothing links to it.
    (' id="proof-content"', ""),
    # A name that hides the text one sees ("Show code cell source").
    ('<summary aria-label="Toggle hidden content">', "<summary>"),
)


def mend(app, pagename, templatename, context, doctree):
    if "body" in context:
        for fault, good in MENDS:
            context["body"] = context["body"].replace(fault, good)


def setup(app):
    app.connect("html-page-context", mend)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
