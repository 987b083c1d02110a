"""The numbers of papers: the true metrics behind published sampled ones.

`published` takes the sampled metrics that a paper prints, without ranks, and returns intervals of
the true ones.

The package needs the core. Begin with `published.py`. `known_means.py` has the linear programme,
`words.py` the sentences, and `command.py` the command.
"""
