/**
 * Shows items as lines, `[key, item]` each. A line belongs to its key, so that nothing moves from one item's
 * figures to another's. A list that somebody points at or has the focus in keeps its order.
 */
export function createLines(list, createLine) {
  const lines = new Map();
  return (items) => {
    const wanted = new Set(items.map(([key]) => key));
    for (const [key, line] of lines) {
      if (wanted.has(key)) continue;
      line.element.remove();
      lines.delete(key);
    }
    const isHeld = list.matches(':hover, :focus-within');
    items.forEach(([key, item], place) => {
      const known = lines.get(key);
      const line = known ?? createLine();
      lines.set(key, line);
      line.show(item);
      if (known !== undefined && isHeld) return;
      const there = list.children[place];
      if (there !== line.element) list.insertBefore(line.element, there ?? null);
    });
  };
}
