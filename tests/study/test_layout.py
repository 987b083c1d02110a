"""Tables as people read them: every number at its place, in Markdown, LaTeX and html."""

import re
from html.parser import HTMLParser

import pandas as pd

from sampled_metrics.paper import fidelity, reference
from sampled_metrics.paper.claims import COLUMNS as CLAIM_COLUMNS
from sampled_metrics.study import layout

RANKS = {"A": [100, 100], "B": [40, 8437]}
TABLE_1 = pd.DataFrame(
    [("B", "ap", 0.12345), ("B", "auc", 0.9), ("A", "ap", 0.01), ("A", "auc", 1.0)],
    columns=["recommender", "metric", "value"],
)

TABLE_3 = ["reading", "recommender", "metric", "estimator", "mean", "sd", "mean_exact", "sd_exact"]


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
        self.tables, self.open = [], False

    def handle_starttag(self, tag, attrs):
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
            self.open = True

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.open = False

    def handle_data(self, data):
        if self.open:
            self.tables[-1][-1][-1] += data


def cells_of_html(text):
    parser = _Cells()
    parser.feed(text)
    return parser.tables


def written(tmp_path, sections, title="A title"):
    """The cells of a table in all three formats."""
    paths = [tmp_path / f"table.{kind}" for kind in ("md", "tex", "html")]
    layout.write(title, sections, *paths)
    markdown, latex, html = (path.read_text(encoding="utf-8") for path in paths)
    return cells_of_markdown(markdown), cells_of_latex(latex), cells_of_html(html)


def plain(latex_cells):
    return [[[cell.replace(r"\,$\pm$\,", "±") for cell in row] for row in table] for table in latex_cells]


class TestLayout:
    def test_table_1_has_a_row_for_each_recommender_in_the_order_of_the_ranks(self, tmp_path):
        wanted = [
            ["Recommender", "Predicted ranks", "AP", "AUC"],
            ["A", "100, 100", "0.010", "1.000"],
            ["B", "40, 8437", "0.123", "0.900"],
        ]
        markdown, latex, html = written(tmp_path, layout.table_1(TABLE_1, RANKS))
        assert markdown == plain(latex) == html == [wanted]

    def test_table_2_has_means_and_deviations(self, tmp_path):
        table = TABLE_1.rename(columns={"value": "mean"}).assign(sd=[0.1, 0.2, 0.3, 0.0])
        markdown, latex, html = written(tmp_path, layout.table_2(table, RANKS))
        assert markdown == plain(latex) == html
        assert markdown[0][1:] == [
            ["A", "100, 100", "0.010±0.300", "1.000±0.000"],
            ["B", "40, 8437", "0.123±0.100", "0.900±0.200"],
        ]

    def test_table_3_has_per_cent_by_metric_and_recommender_and_a_section_for_each_reading(self, tmp_path):
        rows = [
            (name, recommender, label, estimator, base + 0.1 * number, 0.0123, base + 0.1 * number + 0.005, 0.01)
            for name, base in (("default", 0.1), ("as-printed", 0.2))
            for recommender in ("X", "Y")
            for label in ("recall@10", "auc")
            for number, estimator in enumerate(["exact", "bv-0.1"])
        ]
        table = pd.DataFrame(rows, columns=TABLE_3)
        table.loc[2, "mean"] = 0.55558  # default, X, auc, exact
        sections = layout.table_3(table, repetitions=25)
        assert [heading.split(" (")[0] for heading, _ in sections[:2]] == ["Reading: default", "Reading: as printed"]
        markdown, latex, html = written(tmp_path, sections)
        assert markdown == plain(latex) == html
        assert markdown[0] == [
            ["Metric", "Recommender", "Exact", "BV 0.1"],
            ["Recall@10", "X", "10.00", "20.00±1.23"],
            ["Recall@10", "Y", "10.00", "20.00±1.23"],
            ["AUC", "X", "55.56", "20.00±1.23"],
            ["AUC", "Y", "10.00", "20.00±1.23"],
        ]
        assert markdown[1][1] == ["Recall@10", "X", "20.00", "30.00±1.23"]
        # four corrected numbers a reading, each .005 off where the standard error is .01 / 5
        assert markdown[2][1:] == [["default", "4", "2.5", "4", "0", "0"], ["as-printed", "4", "2.5", "4", "0", "0"]]

    def test_table_3_puts_cells_under_their_estimator_whatever_the_order_of_rows(self, tmp_path):
        rows = [("default", "X", "ap", "exact", 0.1, 0.0, 0.1, 0.0), ("default", "X", "ap", "cls", 0.2, 0.0, 0.2, 0.0)]
        rows += [("default", "Y", "ap", "cls", 0.4, 0.0, 0.4, 0.0), ("default", "Y", "ap", "exact", 0.3, 0.0, 0.3, 0.0)]
        table = pd.DataFrame(rows, columns=TABLE_3)
        [[_, *found], _] = written(tmp_path, layout.table_3(table, repetitions=100))[0]
        assert found == [["AP", "X", "10.00", "20.00±0.00"], ["AP", "Y", "30.00", "40.00±0.00"]]

    def test_table_4_names_pairs_as_the_paper_does_whichever_is_worse(self, tmp_path):
        rows = [
            ("default", "X", "Y", "ap", "uncorrected", 0.0, 0.011),
            ("default", "X", "Y", "ap", "bv-1", 0.236, 0.25),
            ("default", "Y", "X", "auc", "uncorrected", 1.0, 1.0),
            ("default", "Y", "X", "auc", "bv-1", 0.99, 0.97),
            ("default", "X", "Z", "ap", "uncorrected", 0.5, 0.5),
            ("default", "X", "Z", "ap", "bv-1", 0.61, float("nan")),
        ]
        table = pd.DataFrame(
            rows, columns=["reading", "worse", "better", "metric", "estimator", "correct", "correct_exact"]
        )
        markdown, latex, html = written(tmp_path, layout.table_4(table))
        assert markdown == plain(latex) == html
        assert markdown == [
            [
                ["Pair", "Metric", "Sampled (uncorrected)", "BV 1"],
                ["X vs Y", "AP", "0", "24"],
                ["X vs Y", "AUC", "100", "99"],
                ["X vs Z", "AP", "50", "61"],
            ],
            [
                ["Pair", "Metric", "Sampled (uncorrected)", "BV 1"],
                ["X vs Y", "AP", "1", "25"],
                ["X vs Y", "AUC", "100", "97"],
                ["X vs Z", "AP", "50", "-"],
            ],
        ]

    def test_fidelity_counts_and_lists_what_is_not_reproduced_first(self, tmp_path):
        table = fidelity.compare_toy(
            reference.table_1().drop(columns="unit").replace({"value": {0.99: 0.97}}),
            reference.table_2().drop(columns="unit"),
            1000,
        )
        counts, off, every = written(tmp_path, layout.fidelity(table))[0]
        assert counts[1:] == [["1", "default", "12", "11"], ["2", "default", "24", "24"]]
        assert off[1:] == [["1", "default", "A auc", "0.9900", "0.9700", "0.00029", "-69.3", "no"]]
        assert len(every) == 1 + 36

    def test_fidelity_has_no_list_of_exceptions_if_there_are_none(self):
        table = fidelity.compare_toy(
            reference.table_1().drop(columns="unit"), reference.table_2().drop(columns="unit"), 1000
        )
        assert len(layout.fidelity(table)) == 2

    def test_claims_say_where_what_and_whether(self, tmp_path):
        rows = [("default", "Section 1", "A < B & γ ≤ 1", "A 0.5 % less", "no"), ("default", "S", "w", "o", "yes")]
        table = pd.DataFrame(rows, columns=CLAIM_COLUMNS)
        markdown, _, html = written(tmp_path, layout.claims(table))
        assert (
            markdown
            == html
            == [
                [
                    ["Where", "The paper says", "We find", "Holds"],
                    ["Section 1", "A < B & γ ≤ 1", "A 0.5 % less", "no"],
                    ["S", "w", "o", "yes"],
                ]
            ]
        )

    def test_claims_of_several_readings_have_a_section_each(self):
        rows = [(name, "S", "w", "o", "yes") for name in ("default", "as-printed")]
        headings = [heading for heading, _ in layout.claims(pd.DataFrame(rows, columns=CLAIM_COLUMNS))]
        assert headings[0].startswith("Reading: default")
        assert headings[1].startswith("Reading: as printed")


class TestFormats:
    HARD = (
        ("A heading", pd.DataFrame({"a_b": ["50 % & more", "x_1^2"], "c#": ["{~}", r"back\slash"], "γ": ["1±2", "$"]})),
    )

    def test_latex_escapes_what_latex_would_read(self, tmp_path):
        layout.write("Title", self.HARD, tmp_path / "t.tex")
        text = (tmp_path / "t.tex").read_text(encoding="utf-8")
        for wanted in (r"a\_b", r"c\#", r"50 \% \& more", r"x\_1\textasciicircum 2", r"\{\textasciitilde \}", r"\$"):
            assert wanted in text
        assert r"back\textbackslash slash" in text
        assert r"1\,$\pm$\,2" in text
        assert r"$\gamma$" in text
        assert "\x00" not in text
        assert "±" not in text
        assert "γ" not in text

    def test_latex_braces_and_environments_are_balanced(self, tmp_path):
        layout.write("Title", self.HARD, tmp_path / "t.tex")
        text = (tmp_path / "t.tex").read_text(encoding="utf-8")
        bare = re.sub(r"\\[{}]", "", text)
        assert bare.count("{") == bare.count("}")
        assert re.findall(r"\\begin{(\w+)}", text) == re.findall(r"\\end{(\w+)}", text)[::-1]

    def test_html_escapes_what_html_would_read(self, tmp_path):
        sections = [("<i>", pd.DataFrame({"a": ["<script>", "x & y"]}))]
        layout.write("T <b>", sections, tmp_path / "t.html")
        text = (tmp_path / "t.html").read_text(encoding="utf-8")
        assert "<script>" not in text
        assert "<title>T &lt;b&gt;</title>" in text
        assert "<h2>&lt;i&gt;</h2>" in text
        assert cells_of_html(text) == [[["a"], ["<script>"], ["x & y"]]]

    def test_html_labels_are_headers_that_stay_on_a_phone_as_far_as_there_is_room(self, tmp_path):
        narrow = pd.DataFrame({"Metric": ["AP"], "Recommender": ["X"], "Exact": ["3.73"], "CLS": ["-"]})
        wide = pd.DataFrame({"Table": ["3"], "Reading": ["as-printed"], "Cell": ["Y auc rank-estimate"], "z": ["-2.0"]})
        layout.write("T", [("", narrow), ("", wide)], tmp_path / "t.html")
        first, second = (tmp_path / "t.html").read_text(encoding="utf-8").split("<tbody")[1:]
        stays = re.compile(r'<th scope="row"( class="[a-z ]+")?')
        assert stays.findall(first) == [' class="stays"', ' class="stays last"']
        assert stays.findall(second) == ["", ' class="stays"', ' class="stays last"']
        [(left, width), (next_left, _)] = re.findall(r"--left: ([\d.]+)em; --width: ([\d.]+)em", first)[:2]
        assert left == "0.00"
        assert next_left == width

    def test_html_of_sentences_says_in_each_cell_what_it_is_of(self, tmp_path):
        sentence = "Only AUC orders A, B, C on the samples as it does exactly"
        layout.write("T", [("", pd.DataFrame({"Where": ["4.2"], "The paper says": [sentence]}))], tmp_path / "t.html")
        text = (tmp_path / "t.html").read_text(encoding="utf-8")
        assert '<table class="words">\n<thead><tr><th scope="col">Where</th>' in text
        assert f'<td data-of="The paper says">{sentence}</td>' in text

    def test_markdown_keeps_digits_as_they_are(self, tmp_path):
        sections = [("", pd.DataFrame({"a": ["1.50", "0.000", "100"], "b": ["1e-3", "-0", "007"]}))]
        assert written(tmp_path, sections)[0] == [[["a", "b"], ["1.50", "1e-3"], ["0.000", "-0"], ["100", "007"]]]

    def test_title_and_headings_are_there(self, tmp_path):
        paths = [tmp_path / f"t.{kind}" for kind in ("md", "tex", "html")]
        layout.write("The title", [("A heading", TABLE_1)], *paths)
        for path in paths:
            text = path.read_text(encoding="utf-8")
            assert "The title" in text
            assert "A heading" in text

    def test_is_the_same_bytes_twice(self, tmp_path):
        for kind in ("md", "tex", "html"):
            for name in ("1", "2"):
                layout.write("T", self.HARD, tmp_path / f"{name}.{kind}")
            assert (tmp_path / f"1.{kind}").read_bytes() == (tmp_path / f"2.{kind}").read_bytes()


NOTHING = float("nan")


def comparison_rows(*rows):
    columns = ["recommender", "sample", "negatives", "estimator", "metric", "exact", "mean", "bias", "sd", "error"]
    return pd.DataFrame(rows, columns=columns)


def order_rows(*rows):
    return pd.DataFrame(rows, columns=["sample", "negatives", "estimator", "metric", "worse", "better", "correct"])


COMPARED = comparison_rows(
    *(
        (name, "fixed", m, label, "ap", 0.1, 0.1 + bias, bias, sd, NOTHING)
        for name, m, label, bias, sd in (
            ("X", 10.0, "cls", 0.02, 0.003),
            ("X", 20.0, "cls", -0.01, 0.002),
            ("X", 10.0, "mapping-bound", NOTHING, NOTHING),
            ("X", 20.0, "mapping-bound", 0.00456, 0.00123),
            ("Y", 10.0, "cls", 0.0, 0.0),
            ("Y", 20.0, "cls", 0.5, 0.1),
            ("Y", 10.0, "mapping-bound", NOTHING, NOTHING),
            ("Y", 20.0, "mapping-bound", NOTHING, NOTHING),
        )
    ),
    *(
        (name, sample, m, label, "recall@1-50", NOTHING, NOTHING, NOTHING, NOTHING, error)
        for name, sample, m, label, error in (
            ("X", "fixed", 10.0, "cls", 0.1),
            ("X", "fixed", 20.0, "cls", 0.05),
            ("X", "fixed", 10.0, "mapping-bound", NOTHING),
            ("X", "fixed", 20.0, "mapping-bound", 0.3),
            ("Y", "fixed", 10.0, "cls", 0.3),
            ("Y", "fixed", 20.0, "cls", 0.07),
            ("Y", "fixed", 10.0, "mapping-bound", NOTHING),
            ("Y", "fixed", 20.0, "mapping-bound", NOTHING),
            ("X", "adaptive", 250.4, "adaptive", 0.03),
            ("Y", "adaptive", 299.6, "adaptive", 0.05),
            ("X", "equal-cost", 250.0, "cls", 0.08),
            ("Y", "equal-cost", 300.0, "cls", 0.1),
        )
    ),
)
ORDERED = order_rows(
    ("fixed", 10.0, "cls", "ap", "X", "Y", 0.5),
    ("fixed", 10.0, "cls", "ndcg", "X", "Y", 0.7),
    ("fixed", 10.0, "cls", "auc", "X", "Y", 1.0),  # which every estimator orders rightly
    ("fixed", 20.0, "cls", "ap", "X", "Y", 0.914),
    ("fixed", 10.0, "mapping-bound", "ap", "X", "Y", NOTHING),
    ("fixed", 20.0, "mapping-bound", "ap", "X", "Y", 0.25),
    ("adaptive", 275.0, "adaptive", "ap", "X", "Y", 0.98),
    ("equal-cost", 275.0, "cls", "ap", "X", "Y", 0.954),
)


class TestComparison:
    def test_by_hand(self, tmp_path):
        sections = layout.estimator_study(COMPARED, ORDERED)
        markdown, latex, html = written(tmp_path, sections)
        assert markdown == plain(latex) == html
        error, chance, cost, of_ap = markdown
        # the mean over the recommenders, of those that have one
        assert error == [
            ["Estimator", "m = 10", "m = 20"],
            ["CLS", "20.0", "6.0"],
            ["Mapping, bound", "-", "30.0"],
        ]
        assert chance == [["Estimator", "m = 10", "m = 20"], ["CLS", "60", "91"], ["Mapping, bound", "-", "25"]]
        assert cost == [
            ["Estimator", "Mean negatives", "Error", "Right order"],
            ["Adaptive (EM)", "275", "4.0", "98.0"],
            ["CLS", "275", "9.0", "95.4"],
        ]
        assert of_ap == [
            ["Recommender", "Estimator", "m = 10", "m = 20"],
            ["X", "CLS", "+2.00±0.30", "-1.00±0.20"],
            ["X", "Mapping, bound", "-", "+0.46±0.12"],
            ["Y", "CLS", "+0.00±0.00", "+50.00±10.00"],
            ["Y", "Mapping, bound", "-", "-"],
        ]
        assert [heading.split(":")[0] for heading, _ in sections] == [
            "Error of Recall@1-50 in per cent",
            "Right order in per cent",
            "Adaptive sampling, and fixed samples of equal cost",
            "AP in per cent, by recommender",
        ]

    def test_without_an_adaptive_sample(self):
        fixed = COMPARED[COMPARED["sample"] == "fixed"]
        assert len(layout.estimator_study(fixed, ORDERED[ORDERED["sample"] == "fixed"])) == 3

    def test_without_a_sample_of_equal_cost(self, tmp_path):
        some = COMPARED["sample"] != "equal-cost"
        cost = written(tmp_path, layout.estimator_study(COMPARED[some], ORDERED[ORDERED["sample"] != "equal-cost"]))[0][
            2
        ]
        assert [row[0] for row in cost[1:]] == ["Adaptive (EM)"]

    def test_one_recommender_has_errors_but_no_order(self, tmp_path):
        alone = COMPARED[COMPARED["recommender"] == "X"]
        markdown, _, html = written(tmp_path, layout.estimator_study(alone, ORDERED.iloc[:0]))
        assert markdown[0][1] == html[0][1] == ["CLS", "10.0", "5.0"]
        assert [row for row in markdown[-1] if row[0] == "Y"] == []

    def test_a_recommender_that_lacks_a_size_has_a_gap_there(self, tmp_path):
        # of Y, whose users have fewer candidates, there is no sample of 20
        lacking = COMPARED[(COMPARED["recommender"] == "X") | (COMPARED["negatives"] != 20)]
        of_ap = written(tmp_path, layout.estimator_study(lacking, ORDERED))[0][-1]
        assert of_ap[3] == ["Y", "CLS", "+0.00±0.00", "-"]

    def test_only_auc(self, tmp_path):
        of_auc = COMPARED.replace({"metric": {"ap": "auc"}})
        markdown, _, _ = written(tmp_path, layout.estimator_study(of_auc, ORDERED[ORDERED["metric"] == "auc"]))
        assert markdown[-1][0] == ["Recommender", "Estimator", "m = 10", "m = 20"]


class TestWithoutRepetitions:
    def test_estimators_without_a_closed_form_are_not_counted(self, tmp_path):
        rows = [
            ("default", "X", "ap", "exact", 0.1, 0.0, 0.1, 0.0),
            ("default", "X", "ap", "cls", 0.21, 0.05, 0.2, 0.02),
            ("default", "X", "ap", "mle", 0.3, 0.01, NOTHING, NOTHING),
        ]
        found = written(tmp_path, layout.table_3(pd.DataFrame(rows, columns=TABLE_3), repetitions=4))[0]
        # one number, .01 off, where the standard error is .02 / 2
        assert found[-1][1:] == [["default", "1", "1.0", "0", "0", "0"]]
        assert found[0][1] == ["AP", "X", "10.00", "21.00±5.00", "30.00±1.00"]

    def test_none_has_a_closed_form(self, tmp_path):
        rows = [("default", "X", "ap", "exact", 0.1, 0.0, 0.1, 0.0)]
        rows += [("default", "X", "ap", "mle", 0.3, 0.01, NOTHING, NOTHING)]
        found = written(tmp_path, layout.table_3(pd.DataFrame(rows, columns=TABLE_3), repetitions=4))[0]
        assert found[0][1] == ["AP", "X", "10.00", "30.00±1.00"]
        assert found[-1][1:] == []

    def test_beyond_two_three_and_four(self, tmp_path):
        off = [0.5, 2.5, -3.5, 4.5]
        rows = [("default", "X", "ap", "exact", 0.1, 0.0, 0.1, 0.0)]
        rows += [("default", "X", f"recall@{k}", "cls", 0.1 + 0.001 * z, 0.01, 0.1, 0.01) for k, z in enumerate(off, 1)]
        found = written(tmp_path, layout.table_3(pd.DataFrame(rows, columns=TABLE_3), repetitions=100))[0]
        assert found[-1][1] == ["default", "4", "4.5", "3", "2", "1"]

    def test_what_does_not_vary_and_is_right_is_not_off(self, tmp_path):
        rows = [("default", "X", "ap", "cls", 0.3 + 1e-16, 0.0, 0.3, 0.0)]
        found = written(tmp_path, layout.table_3(pd.DataFrame(rows, columns=TABLE_3), repetitions=100))[0]
        assert found[-1][1] == ["default", "1", "0.0", "0", "0", "0"]

    def test_one_repetition(self, tmp_path):
        rows = [("default", "X", "ap", "cls", 0.31, NOTHING, 0.3, 0.01)]
        found = written(tmp_path, layout.table_3(pd.DataFrame(rows, columns=TABLE_3), repetitions=1))[0]
        assert found[0][1] == ["AP", "X", "31.00"]
        assert found[-1][1] == ["default", "1", "1.0", "0", "0", "0"]
