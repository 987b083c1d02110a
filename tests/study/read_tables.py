"""Files of tables that a study writes, read back."""

from read_pages import cells_of_html, cells_of_latex, cells_of_markdown

from sampled_metrics_study import table_files


def written(tmp_path, sections, title="A title"):
    """The cells of a table in all three formats."""
    paths = [tmp_path / f"table.{kind}" for kind in ("md", "tex", "html")]
    table_files.write(title, sections, *paths)
    markdown, latex, html = (path.read_text(encoding="utf-8") for path in paths)
    return cells_of_markdown(markdown), cells_of_latex(latex), cells_of_html(html)
