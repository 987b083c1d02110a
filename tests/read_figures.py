"""What a figure shows."""

from itertools import combinations

from matplotlib.axis import Tick
from matplotlib.text import Text
from matplotlib.transforms import Bbox


def texts(legend):
    return [text.get_text() for text in legend.get_texts()]


def assert_texts_are_apart(figure):
    """No text is cut off, and none is over another one; numbers of axes, some of which are not
    drawn, are left out.
    """
    figure.draw_without_rendering()
    numbers = [text for tick in figure.findobj(Tick) for text in (tick.label1, tick.label2)]
    drawn = [
        text for text in figure.findobj(Text) if text.get_text().strip() and text not in numbers
    ]
    boxes = [(text.get_text(), text.get_window_extent()) for text in drawn]
    inside = [(text, box) for text, box in boxes if box.width and box.height]
    for text, box in inside:
        assert figure.bbox.x0 <= box.x0 + 1, text
        assert box.x1 - 1 <= figure.bbox.x1, text
        assert figure.bbox.y0 <= box.y0 + 1, text
        assert box.y1 - 1 <= figure.bbox.y1, text
    for (text, box), (neighbour, box_of_neighbour) in combinations(inside, 2):
        overlap = Bbox.intersection(box, box_of_neighbour)
        assert overlap is None or overlap.width < 1 or overlap.height < 1, (text, neighbour)
