"""Plans: what each way to evaluate costs, and what it would tell.

`plan` takes the ranks of a pilot, simulates evaluations by each way, and returns a table with
advice.

It needs the core, `ranking` and `stages`.

Begin with `plan.py`. `pilot.py` has what a pilot says of its users, `variances.py` the laws of
users that it allows, `words.py` the sentences, and `figure.py` and `command.py` the figure and the
command.
"""
