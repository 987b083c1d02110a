"""Tables of text as they are written, read back from Markdown, LaTeX and html."""

import re
from html.parser import HTMLParser


def cells_of_markdown(text):
    """The rows of every table: header first, without the rule below it."""
    blocks = [[]]
    for line in text.splitlines():
        if not line.startswith("|"):
            blocks += [[]] if blocks[-1] else []
        elif not re.fullmatch(r"[|:\- ]+", line):
            blocks[-1].append([cell.strip() for cell in line.strip("|").split("|")])
    return [block for block in blocks if block]


def cells_of_latex(text):
    """The rows between the rules."""
    blocks = re.findall(r"\\toprule\n(.*?)\\bottomrule", text, flags=re.DOTALL)
    return [
        [
            [cell.strip() for cell in line.removesuffix(r" \\").split(" & ")]
            for line in block.splitlines()
            if "&" in line
        ]
        for block in blocks
    ]


class _Cells(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tables = []
        self.open = False

    def handle_starttag(self, tag, attrs):
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
            self.open = True
        elif tag == "strong":
            self.handle_data("**")

    def handle_endtag(self, tag):
        if tag == "strong":
            self.handle_data("**")
        if tag in ("td", "th"):
            self.open = False

    def handle_data(self, data):
        if self.open:
            self.tables[-1][-1][-1] += data


def cells_of_html(text):
    parser = _Cells()
    parser.feed(text)
    return parser.tables


def plain(latex_cells):
    def text(cell):
        return re.sub(r"\\textbf{(.*)}", r"**\1**", cell.replace(r"\,$\pm$\,", "±"))

    return [[[text(cell) for cell in row] for row in table] for table in latex_cells]


def table_of_report(page, heading):
    """Return the rows of a table of the report, as mappings from columns to text."""
    [part] = re.findall(rf'aria-label="{re.escape(heading)}">(.*?)</table>', page, flags=re.DOTALL)
    [[head, *rows]] = cells_of_html(f"{part}</table>")
    return [dict(zip(head, row, strict=True)) for row in rows]
