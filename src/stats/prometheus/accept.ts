import type { Format } from './exposition';

const TYPES: readonly (readonly [RegExp, Format])[] = [
  [/^application\/openmetrics-text(?:;|$)/, 'openmetrics'],
  [/^(?:text\/plain|text\/\*|\*\/\*)(?:;|$)/, 'text'],
];
const VERSIONS: Readonly<Record<Format, RegExp>> = {
  openmetrics: /;version=(?:"?1\.0\.0"?|"?0\.0\.1"?)(?:;|$)/,
  text: /;version="?0\.0\.4"?(?:;|$)/,
};

/** The format that a scraper likes best (RFC 9110 §12.5.1); the text format when it asks for nothing we have. */
export function acceptedFormat(accept: string | undefined): Format {
  let best: Format = 'text';
  let bestQuality = 0;
  for (const part of (accept ?? '').toLowerCase().split(',')) {
    const range = part.replace(/\s/g, '');
    const format = TYPES.find(([pattern]) => pattern.test(range))?.[1];
    if (format === undefined) continue;
    if (range.includes(';version=') && !VERSIONS[format].test(range)) continue;
    const quality = Number(/;q=([\d.]+)/.exec(range)?.[1] ?? 1);
    if (quality > bestQuality) [best, bestQuality] = [format, quality];
  }
  return best;
}

export function acceptsGzip(acceptEncoding: string | string[] | undefined): boolean {
  return String(acceptEncoding ?? '')
    .toLowerCase()
    .split(',')
    .some((part) => /^gzip(?:;q=(?!0(?:\.0*)?$).*)?$/.test(part.replace(/\s/g, '')));
}
