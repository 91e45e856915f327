import type { Parser } from './setting';

/** Items separated by commas; white space around an item is dropped, an empty item refused. */
export function listOf<T>(item: Parser<T>, each: string): Parser<readonly T[]> {
  return {
    expected: `${each}, with commas between several`,
    parse: (text) => {
      const items = text.split(',').map((part) => item.parse(part.trim()));
      return items.includes(undefined) ? undefined : (items as T[]);
    },
  };
}

/** `<name><separator><value>` pairs separated by commas; the last of equal names counts. */
export function pairs(separator: ':' | '='): Parser<Readonly<Record<string, string>>> {
  return {
    expected: `<k1>${separator}<v1>,<k2>${separator}<v2>`,
    parse: (text) => {
      const entries: [string, string][] = [];
      for (const part of text.split(',')) {
        const at = part.indexOf(separator);
        const name = part.slice(0, Math.max(at, 0)).trim();
        if (name === '') return undefined;
        entries.push([name, part.slice(at + 1).trim()]);
      }
      return Object.fromEntries(entries);
    },
  };
}

/** `<k1>=<v1>,<k2>=<v2>` with URL-encoded values, as in OpenTelemetry's settings. */
export const headerPairs: Parser<Readonly<Record<string, string>>> = {
  expected: '<k1>=<v1>,<k2>=<v2> with URL-encoded values',
  parse: (text) => {
    const encoded = pairs('=').parse(text.trim().replace(/,$/, ''));
    if (encoded === undefined) return undefined;
    try {
      const entries = Object.entries(encoded);
      return Object.fromEntries(entries.map(([name, value]) => [name, decodeURIComponent(value)]));
    } catch {
      return undefined;
    }
  },
};
