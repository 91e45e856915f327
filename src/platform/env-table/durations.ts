import type { Parser } from './setting';

const NANOSECONDS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const UNIT = Object.keys(NANOSECONDS).join('|');
const WHOLE_TEXT = new RegExp(`^[+-]?(?:0|(?:(?:\\d+(?:\\.\\d*)?|\\.\\d+)(?:${UNIT}))+)$`);
const COMPONENT = new RegExp(`(\\d*)\\.?(\\d*)(${UNIT})`, 'g');
/** Go stores a duration as a signed 64-bit count of nanoseconds. */
const MAX_NANOSECONDS = 2n ** 63n - 1n;

function componentNanoseconds(whole: string, fraction: string, unit: string): bigint {
  const scale = NANOSECONDS[unit] ?? 0n;
  return (
    BigInt(whole || '0') * scale +
    (BigInt(fraction || '0') * scale) / 10n ** BigInt(fraction.length)
  );
}

/** Milliseconds (with fraction) of a duration as Go's time.ParseDuration reads it; undefined when it is invalid. */
export function parseDuration(text: string): number | undefined {
  if (!WHOLE_TEXT.test(text)) return undefined;
  const isNegative = text.startsWith('-');
  let total = 0n;
  for (const [, whole = '', fraction = '', unit = ''] of text.matchAll(COMPONENT)) {
    total += componentNanoseconds(whole, fraction, unit);
  }
  if (total > MAX_NANOSECONDS + (isNegative ? 1n : 0n)) return undefined;
  const milliseconds = Number(total) / 1e6;
  return isNegative ? 0 - milliseconds : milliseconds;
}

export interface DurationRange {
  /** Lower end, included; default `0`. */
  readonly min?: string;
  /** Upper end, included; default: none. */
  readonly max?: string;
}

/** A duration in milliseconds (with fraction); the ends of the range are durations too. */
export function duration(range: DurationRange = {}): Parser<number> {
  const min = range.min ?? '0';
  const { max } = range;
  const minMs = parseDuration(min) ?? 0;
  const maxMs = max === undefined ? Infinity : (parseDuration(max) ?? Infinity);
  const ends = max === undefined ? `of at least ${min}` : `from ${min} to ${max}`;
  return {
    expected: `a duration ${ends}, such as 150us, 10s or 1h30m`,
    parse: (text) => {
      const milliseconds = parseDuration(text);
      if (milliseconds === undefined || milliseconds < minMs || milliseconds > maxMs) {
        return undefined;
      }
      return milliseconds;
    },
  };
}
