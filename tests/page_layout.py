"""What is wrong with how a page looks, measured in a real browser: text that is cut off, runs out of its
box or is squeezed into it, text of poor contrast, and targets that a finger misses."""

from __future__ import annotations

from typing import Any

# As WCAG 2.2 asks at level AA: contrast of text (1.4.3) and the size of targets (2.5.8), links in a sentence excepted.
_LEAST_TARGET = 24

_PROBLEMS = """(leastTarget) => {
  const found = new Set();
  const told = (node) => `<${node.tagName.toLowerCase()}${node.id ? "#" + node.id : ""}${
    typeof node.className === "string" && node.className ? "." + node.className.trim().replaceAll(" ", ".") : ""}>`;
  const tell = (problem, node, text) => found.add(`${problem}: ${told(node)} ${(text ?? "").trim().slice(0, 60)}`);
  const style = (node) => getComputedStyle(node);
  const parents = function* (node) { for (let at = node; at; at = at.parentElement) yield at; };
  const shown = (node) => node.checkVisibility({ visibilityProperty: true, opacityProperty: true })
    && !node.closest(".visually-hidden, .skip, [hidden]");
  const scrolls = (node) => ["auto", "scroll"].includes(style(node).overflowX);

  // colours: the text over what is painted behind it
  const rgba = (colour) => (colour.match(/[\\d.]+/g) ?? [0, 0, 0, 0]).map(Number).concat(1).slice(0, 4);
  const over = (top, below) => below.map((value, i) => i < 3 ? top[3] * top[i] + (1 - top[3]) * value : 1);
  const behind = (node) => [...parents(node)].reverse().reduce(
    (below, at) => over(rgba(style(at).backgroundColor), below), [255, 255, 255, 1]);
  const light = (colour) => [0.2126, 0.7152, 0.0722].reduce((sum, share, i) => {
    const c = colour[i] / 255;
    return sum + share * (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  }, 0);
  const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);

  if (document.documentElement.scrollWidth > innerWidth) tell("the page scrolls sideways", document.body,
    `${document.documentElement.scrollWidth} > ${innerWidth}`);

  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    const parent = text.parentElement;
    if (!text.data.trim() || !shown(parent)) continue;
    if (parent.closest("option, script, style, title, datalist, textarea")) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    const boxes = [...range.getClientRects()].filter((box) => box.width > 1 && box.height > 1);
    if (!boxes.length) continue;
    for (const at of parents(parent)) {
      if (scrolls(at)) break;  // what is beyond can be reached
      const looks = style(at), limit = at.getBoundingClientRect();
      const isBox = looks.display !== "inline" && looks.display !== "contents" && !(at instanceof SVGElement);
      const cuts = ["hidden", "clip"].includes(looks.overflowX) || at instanceof SVGSVGElement;
      if ((isBox || cuts) && boxes.some((box) => box.right > limit.right + 1.5 || box.left < limit.left - 1.5))
        tell(cuts ? "text is cut off" : "text runs out of its box", at, text.data);
      if (cuts && boxes.some((box) => box.bottom > limit.bottom + 3 || box.top < limit.top - 3))
        tell("text is cut off below", at, text.data);
    }
    const looks = style(parent);
    const widest = Math.max(...boxes.map((box) => box.width));
    if (boxes.length > 2 && widest < 4 * parseFloat(looks.fontSize)) tell("text is squeezed", parent, text.data);
    if (parent.closest("svg, :disabled")) continue;
    const opacity = [...parents(parent)].reduce((share, at) => share * Number(style(at).opacity), 1);
    const below = behind(parent), colour = rgba(looks.color);
    const ratio = contrast(over([...colour.slice(0, 3), colour[3] * opacity], below), below);
    const size = parseFloat(looks.fontSize), large = size >= 24 || (size >= 18.66 && Number(looks.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5)) tell(`contrast ${ratio.toFixed(1)}`, parent, text.data);
  }

  const targets = "a[href], button, input:not([type=hidden]), select, textarea, summary";
  for (const target of document.querySelectorAll(targets)) {
    if (!shown(target) || target.closest("svg")) continue;
    const inSentence = target.tagName === "A" && style(target).display === "inline"
      && target.parentElement.textContent.trim() !== target.textContent.trim();
    const label = target.labels?.[0]?.getBoundingClientRect(), box = target.getBoundingClientRect();
    const height = Math.max(box.height, label?.height ?? 0), width = Math.max(box.width, label?.width ?? 0);
    if (!inSentence && Math.min(height, width) < leastTarget - 0.5)
      tell(`target of ${Math.round(width)} x ${Math.round(height)} px`, target, target.textContent);
  }
  return [...found];
}"""


def layout_problems(page: Any) -> list[str]:
    """One sentence for each; empty if the page looks right as it is shown now."""
    found: list[str] = page.evaluate(_PROBLEMS, _LEAST_TARGET)
    return found


def problems_everywhere(page: Any) -> list[str]:
    """On a phone and on a desktop, in light and in dark colours."""
    found = []
    for width, height in ((390, 844), (1280, 900)):
        page.set_viewport_size({"width": width, "height": height})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            found += [f"{width} px, {scheme}: {problem}" for problem in layout_problems(page)]
    return found
