"""What is looked at: figures of results, tables as text, LaTeX and html, and the report, one html
page.

It needs the core. Packages that add a figure of their own bring it along.

Begin with `report.py`. `plots.py` lays out the figures of results, `drawing.py` has their style,
`page.py` renders templates, and `tables.py` lays out tables.
"""
