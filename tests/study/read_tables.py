"""Tables of a study: its files, read back, and the printed ones as a study would have them."""

from read_pages import cells_of_html, cells_of_latex, cells_of_markdown

from sampled_metrics_study import reference, table_files


def written(tmp_path, sections, title="A title"):
    """The cells of a table in all three formats."""
    paths = [tmp_path / f"table.{kind}" for kind in ("md", "tex", "html")]
    table_files.write(title, sections, *paths)
    markdown, latex, html = (path.read_text(encoding="utf-8") for path in paths)
    return cells_of_markdown(markdown), cells_of_latex(latex), cells_of_html(html)


def printed_as_ours():
    """Tables 3 and 4 as printed, with the columns of ours; exact numbers have no ties."""
    table_3 = reference.table_3().fillna({"sd": 0.0})
    table_3 = table_3.assign(mean_exact=table_3["mean"], sd_exact=table_3["sd"])
    table_4 = reference.table_4()
    # X is best on AUC, where the pairs are the other way round
    is_swapped = table_4["metric"] == "auc"
    left = table_4["pair"].str[0]
    right = table_4["pair"].str[-1]
    table_4 = table_4.assign(
        worse=left.where(~is_swapped, right),
        better=right.where(~is_swapped, left),
        correct_exact=table_4["correct"],
    )
    return [table.drop(columns="unit", errors="ignore") for table in (table_3, table_4)]
