from sampled_metrics.errors import ConfigError, DataError


def test_a_message_is_one_line_that_moves_no_cursor() -> None:
    assert str(DataError("a\nb\r\x1b[2J\x00\u2028\u202e\udce9c")) == r"a\nb\r\x1b[2J\x00\u2028\u202e\udce9c"


def test_other_letters_stay() -> None:
    assert str(ConfigError("Überschrift 'naïve' λ ≥ 日本語 \\n")) == "Überschrift 'naïve' λ ≥ 日本語 \\n"
