import { octetAt } from '../octets';
/** A cheap number for up to some 20 octets spread over `bytes[start, end)`; equal octets give equal numbers. */
export function sampledHash(bytes: Uint8Array, start: number, end: number): number {
  const length = end - start;
  const step = 1 + (length >> 4);
  let hash = length;
  for (let i = end - 1; i >= start; i -= step)
    hash = Math.imul(hash ^ octetAt(bytes, i), 0x01000193);
  return (hash ^ (hash >>> 15)) & 0x3fffffff;
}
