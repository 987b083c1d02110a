from sampled_metrics.errors import DataError


def test_a_message_is_one_line_that_moves_no_cursor() -> None:
    assert str(DataError("a\nb\r\x1b[2J\x00\u2028\u202e\udce9c")) == r"a\nb\r\x1b[2J\x00\u2028\u202e\udce9c"


def test_the_middle_of_a_long_message_is_left_out() -> None:
    text = str(DataError(f"file, line 3: {'x' * 100_000}, not y"))
    assert text.startswith("file, line 3: xxx")
    assert " … xxx" in text
    assert text.endswith("xxx, not y")
    assert len(text) < 2000
