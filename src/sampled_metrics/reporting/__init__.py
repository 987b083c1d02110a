"""What is looked at: figures of results, tables, and the report.

Tables are text, LaTeX or html, and the report is one html page.

The package needs the core. Packages that add a figure of their own bring it along.

Begin with `report.py`. `plots.py` lays out the figures of results, `drawing.py` has their style,
`page.py` renders templates, and `tables.py` lays out tables.
"""
