"""Files that are damaged, and how readers have to refuse them."""

import numpy as np

from sampled_metrics.errors import SampledMetricsError


def require_that_damage_is_refused(path, read):
    """Files with flipped bits, or cut off, are read or refused in a line with their name."""
    content = path.read_bytes()
    rng = np.random.default_rng(1)
    path = path.with_name(f"damaged-{path.name}")
    messages = []
    for attempt in range(120):
        damaged = bytearray(content)
        # the footer of parquet, the directory of zip
        start = len(content) // 2 if attempt % 3 else 0
        if attempt % 4:
            for place in rng.integers(start, len(content), 1 + attempt % 5):
                damaged[place] ^= 1 << rng.integers(8)
        else:
            damaged = damaged[: rng.integers(len(content))]
        path.write_bytes(damaged)
        try:
            read(str(path))
        except SampledMetricsError as error:
            messages.append(str(error))
    assert len(messages) > 30  # those that are cut off, at least
    assert all("\n" not in message and str(path) in message for message in messages)
