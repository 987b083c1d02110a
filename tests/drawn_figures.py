"""Captions and texts of figures of results."""

import numpy as np


def caption(figure):
    """Return the caption in one line."""
    return figure.get_supxlabel().replace("\n", " ")


def require_that_no_text_is_cut_off(result):
    """All texts of the figure of a result of 300 users are within the figure."""
    axes = np.ravel(result.plot())
    figure = axes[0].figure
    assert "300 users, n = 1" in caption(figure)
    figure.draw_without_rendering()
    drawn = [
        text for panel in axes for text in (*panel.texts, *panel.get_yticklabels(), panel.title)
    ]
    for text in filter(lambda text: text.get_text(), (*drawn, *figure.texts)):
        box = text.get_window_extent()
        assert 0 <= box.x0 <= box.x1 <= figure.bbox.x1, text
        assert 0 <= box.y0 <= box.y1 <= figure.bbox.y1, text
