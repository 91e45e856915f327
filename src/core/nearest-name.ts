/** A name that takes so many letters to add, drop or change is not meant. */
const TOO_FAR = 3;

/** Of names that are offered one by one, the one that a misspelled one most likely means. */
export interface NearestName {
  /** Takes time in proportion to the length of the name. */
  offer(name: string): void;
  /** Undefined: none is near. */
  readonly best: string | undefined;
}

export function createNearestName(misspelled: string): NearestName {
  const plain = simplify(misspelled);
  let best: string | undefined;
  let bestDistance = Math.min(TOO_FAR, plain.length);
  return {
    offer(name) {
      const distance = editDistance(plain, simplify(name), bestDistance);
      if (distance >= bestDistance) return;
      best = name;
      bestDistance = distance;
    },
    get best() {
      return best;
    },
  };
}

/** The name that a misspelled one most likely means; undefined when none is near. */
export function nearestName(misspelled: string, names: Iterable<string>): string | undefined {
  const nearest = createNearestName(misspelled);
  for (const name of names) nearest.offer(name);
  return nearest.best;
}

function simplify(name: string): string {
  return name.toLowerCase().replaceAll(/[-_ ]/g, '');
}

/**
 * How many letters must be added, dropped or changed; `tooFar` when it cannot be less. What lies further from the diagonal than
 * that is not looked at: a place of `row` is a distance from the diagonal.
 */
function editDistance(from: string, to: string, tooFar: number): number {
  const band = tooFar - 1;
  if (Math.abs(from.length - to.length) > band) return tooFar;
  let row = Array.from({ length: 2 * band + 1 }, (_, place) => Math.max(place - band, 0));
  for (let i = 1; i <= from.length; i += 1) {
    row = nextRow(row, { from, to, i, tooFar });
    if (Math.min(...row) >= tooFar) return tooFar;
  }
  return Math.min(row[to.length - from.length + band] ?? tooFar, tooFar);
}

interface Compared {
  readonly from: string;
  readonly to: string;
  /** The letter of `from`, from 1. */
  readonly i: number;
  readonly tooFar: number;
}

function nextRow(row: readonly number[], { from, to, i, tooFar }: Compared): number[] {
  const next: number[] = [];
  for (let place = 0; place < row.length; place += 1) {
    const j = i + place - tooFar + 1;
    const change = from[i - 1] === to[j - 1] ? 0 : 1;
    const distance = Math.min(
      (row[place] ?? tooFar) + change,
      (row[place + 1] ?? tooFar) + 1,
      (next[place - 1] ?? tooFar) + 1,
    );
    // Before the first letter all of `from` so far is dropped; after the last there is nothing.
    next.push(j > to.length ? tooFar : j < 1 ? i : distance);
  }
  return next;
}
