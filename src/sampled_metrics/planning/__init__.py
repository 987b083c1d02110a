"""Plans: how many users an evaluation needs, and what it would tell.

`plan` takes the ranks of a pilot, and returns a table with a row for each way to evaluate and one
line that answers the question.

The package needs the core, `ranking` and `stages`.

Begin with `plan.py`. `pilot.py` has the users of a pilot and the laws that fit it, `samples.py`
their samples of negatives, `forecast.py` what an evaluation is expected to show, `variances.py`
the extreme laws, `words.py` the sentences, and `figure.py` and `command.py` the figure and the
command.
"""
