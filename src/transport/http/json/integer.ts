const DECIMAL = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([-+]?[0-9]{1,6}))?$/;
/** 2^64 has 20 digits: whatever is longer is above every limit that is asked for. */
const MAX_DIGITS = 40;

/**
 * The whole number that a JSON number stands for (`7`, `7.0`, `0.7e1`); undefined for a fraction, for
 * one of more than 40 digits and for what is no number. A bigint only where a number would lose digits.
 */
export function parseInteger(text: string): number | bigint | undefined {
  const [, sign, whole = '', fraction = '', exponent = '0'] = DECIMAL.exec(text) ?? [];
  if (sign === undefined) return undefined;
  const digits = wholeDigits(whole + fraction, Number(exponent) - fraction.length);
  if (digits === undefined) return undefined;
  const value = BigInt(digits) * (sign === '-' ? -1n : 1n);
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** `digits` times ten to the power of `shift`, when that is whole and not too long. */
function wholeDigits(digits: string, shift: number): string | undefined {
  const significant = digits.replace(/^0+/, '');
  if (significant === '') return '0';
  if (significant.length + shift > MAX_DIGITS) return undefined;
  if (shift >= 0) return significant + '0'.repeat(shift);
  const cut = significant.length + shift;
  if (cut <= 0 || /[^0]/.test(significant.slice(cut))) return undefined;
  return significant.slice(0, cut);
}
