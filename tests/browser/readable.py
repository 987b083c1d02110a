"""What it takes for a page to be readable, as javascript that returns what is wrong with it."""

SMALLEST = 12  # px

WIDER_THAN_THE_VIEWPORT = """() => {
  const wide = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= wide) return [];
  const scrolls = e => e && e !== document.body && e !== document.documentElement &&
    (["auto", "scroll", "hidden", "clip"].includes(getComputedStyle(e).overflowX) || scrolls(e.parentElement));
  return [...document.body.querySelectorAll("*")]
    .filter(e => e.getBoundingClientRect().right > wide + 1 && !scrolls(e.parentElement))
    .map(e => `${e.tagName}.${e.className} reaches ${Math.round(e.getBoundingClientRect().right)} of ${wide} px`)
    .slice(0, 5).concat(`the page is ${document.documentElement.scrollWidth} px wide`);
}"""

IMAGES_THAT_DID_NOT_LOAD = """async () => {
  for (const image of document.images) image.loading = "eager";
  await Promise.all([...document.images].map(image => image.decode().catch(() => {})));
  return [...document.images].filter(i => !i.complete || !i.naturalWidth).map(i => i.src.slice(0, 100));
}"""

TABLES_THAT_CANNOT_BE_READ = """smallest => {
  const wrong = [];
  for (const table of document.querySelectorAll("table")) {
    const name = table.innerText.slice(0, 30).replace(/\\s+/g, " ");
    const box = table.closest(".scroll") ?? table.parentElement;
    for (const cell of table.querySelectorAll("th, td")) {
      if (!cell.getClientRects().length) continue;
      const text = cell.textContent.slice(0, 30);
      const style = getComputedStyle(cell);
      if (parseFloat(style.fontSize) < smallest) wrong.push(`${name}: ${text}: letters of ${style.fontSize}`);
      if (cell.scrollWidth > cell.clientWidth + 1) wrong.push(`${name}: ${text}: is cut off`);
      if (cell.clientHeight > innerHeight / 2) wrong.push(`${name}: ${text}: is ${cell.clientHeight} px high`);
    }
    box.scrollLeft = box.scrollWidth;
    const room = box.getBoundingClientRect();
    const [first, last] = [table.tBodies[0].rows[0].cells[0], [...table.tBodies[0].rows[0].cells].at(-1)];
    if (last.getBoundingClientRect().right > Math.min(room.right, innerWidth) + 1)
      wrong.push(`${name}: the last column is out of reach`);
    const labels = [...table.tBodies[0].rows[0].querySelectorAll("th")].at(-1) ?? first;
    if (labels !== last) {
      const label = labels.getBoundingClientRect(), cell = last.getBoundingClientRect();
      if (label.left < room.left - 1) wrong.push(`${name}: what the row is of is out of sight at its end`);
      if (cell.left < label.right - 1 && cell.top < label.bottom - 1)
        wrong.push(`${name}: labels cover the last column`);
    }
    box.scrollLeft = 0;
  }
  return [...new Set(wrong)].slice(0, 10);
}"""


def wrong_with_page(page):
    """Say what reaches out of the viewport, and which images are missing."""
    return [*page.evaluate(WIDER_THAN_THE_VIEWPORT), *page.evaluate(IMAGES_THAT_DID_NOT_LOAD)]


def wrong_with_tables(page):
    """Say which tables have cells that are cut off, too small or out of reach, or rows that lose
    their label.
    """
    return list(page.evaluate(TABLES_THAT_CANNOT_BE_READ, SMALLEST))
