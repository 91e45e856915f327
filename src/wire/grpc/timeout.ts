const MILLISECONDS: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 0.001,
  n: 0.000_001,
};

const MOST_DIGITS = 8;

/** Reads `grpc-timeout` (at most eight digits and a unit) as milliseconds; undefined when it is none. */
export function parseTimeout(text: string): number | undefined {
  const digits = text.length - 1;
  const unit = MILLISECONDS[text.charAt(digits)];
  if (unit === undefined || digits < 1 || digits > MOST_DIGITS) return undefined;
  let value = 0;
  for (let i = 0; i < digits; i++) {
    const digit = text.charCodeAt(i) - 0x30;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
  }
  return value * unit;
}
