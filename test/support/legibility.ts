/** The least contrast of a text that is shown with what is behind it, as WCAG counts it. */
export const LEAST_CONTRAST = `(() => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((one) => {
      const c = one / 255;
      return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (node) => {
    for (let at = node; at !== null; at = at.parentElement) {
      const [r, g, b, a = 1] = parse(getComputedStyle(at).backgroundColor);
      if (a === 1) return [r, g, b];
    }
    return [255, 255, 255];
  };
  let least = Infinity;
  for (const node of document.querySelectorAll('body *')) {
    const own = [...node.childNodes].some((one) => one.nodeType === 3 && one.data.trim() !== '');
    if (!own || !node.checkVisibility() || ['SCRIPT', 'STYLE', 'NOSCRIPT'].includes(node.nodeName)) continue;
    const pair = [parse(getComputedStyle(node).color).slice(0, 3), behind(node)].map(luminance);
    least = Math.min(least, (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05));
  }
  return least;
})()`;

/** Pairs of texts of which one lies over the other, evaluated in the page. */
export const OVERLAPPING = `(() => {
  const boxes = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const { parentElement: at, data } = walker.currentNode;
    if (data.trim() === '' || !at.checkVisibility() || at.closest('.unseen, .skip, script, style, noscript, select') !== null) continue;
    const range = document.createRange();
    range.selectNodeContents(walker.currentNode);
    for (const { left, right, top, bottom } of range.getClientRects())
      boxes.push({ text: data.trim().slice(0, 60), left, right, top: top + 3, bottom: bottom - 3 });
  }
  const isOver = (a, b) =>
    a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
  return boxes.flatMap((a, i) =>
    boxes.slice(i + 1).filter((b) => isOver(a, b)).map((b) => a.text + ' / ' + b.text));
})()`;

/** Texts that are cut off or stand out of the page, evaluated in it. */
export const CUT_OFF = `[...document.querySelectorAll('body *')]
  .filter((node) => node.checkVisibility() && node.closest('.unseen, .skip, svg, input, select') === null)
  .filter((node) => {
    const { left, right } = node.getBoundingClientRect();
    const hides = getComputedStyle(node).overflowX !== 'visible' && node.scrollWidth > node.clientWidth;
    return hides || left < 0 || right > document.documentElement.clientWidth + 0.5;
  })
  .map((node) => node.outerHTML.slice(0, 200))`;
