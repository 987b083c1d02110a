"""Ranked lists with grades: the lists of a recommender and judged items, as in trec_eval and ranx.

`ranked_lists` reads them as a table, `RankedLists`, which `evaluate` and `compare` take.

The package needs the core. Begin with `ranked_lists.py`.
"""
