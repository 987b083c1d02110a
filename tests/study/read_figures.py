"""What a figure shows."""


def curves(panel):
    """Label → (x, y) of the lines with a label of their own."""
    return {
        line.get_label(): (line.get_xdata().tolist(), line.get_ydata().tolist())
        for line in panel.get_lines()
        if not line.get_label().startswith("_")
    }


def texts(legend):
    return [text.get_text() for text in legend.get_texts()]
