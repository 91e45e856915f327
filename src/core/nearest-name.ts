/** The name that a misspelled one most likely means; undefined when none is near. */
export function nearestName(misspelled: string, names: readonly string[]): string | undefined {
  const plain = simplify(misspelled);
  let best: string | undefined;
  let bestDistance = Math.min(3, plain.length);
  for (const name of names) {
    const distance = editDistance(plain, simplify(name), bestDistance);
    if (distance >= bestDistance) continue;
    best = name;
    bestDistance = distance;
  }
  return best;
}

function simplify(name: string): string {
  return name.toLowerCase().replaceAll(/[-_ ]/g, '');
}

/** How many letters must be added, dropped or changed; `tooFar` when it cannot be less. */
function editDistance(from: string, to: string, tooFar: number): number {
  if (Math.abs(from.length - to.length) >= tooFar) return tooFar;
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 0; i < from.length; i += 1) {
    const next = [i + 1];
    for (let j = 0; j < to.length; j += 1) {
      const change = from[i] === to[j] ? 0 : 1;
      next.push(Math.min((row[j] ?? 0) + change, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? tooFar;
}
