"""The file of sentences is that of the source: a person reads its diff."""

from frozen_sentences import FROZEN, frozen


def test_the_frozen_sentences_are_those_of_the_source():
    assert frozen() == FROZEN.read_text(encoding="utf-8"), (
        "sentences have changed: run `python tests/frozen_sentences.py` and read the diff"
    )
