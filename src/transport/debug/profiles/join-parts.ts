import type { Steps } from '../../../core/steps';

/** Joins consecutive parts, one per step: there may be tens of megabytes. */
export function* joinParts(parts: readonly Uint8Array[]): Steps<Uint8Array> {
  const joined = Buffer.allocUnsafe(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
    yield;
  }
  return joined;
}
