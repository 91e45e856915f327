import { compileRules } from '../../src/core/rules/compile';
import type { Rules } from '../../src/core/rules/rules';
import { parseSecretKeys, TokenMaker } from '../../src/platform/secret-keys';
import { parseText } from './rule-texts';

/** The time from which the second of the keys is used: within a minute, an hour and a day. */
export const ROTATION_SECONDS = Date.UTC(2026, 11, 1, 12, 30, 30) / 1_000;

/** Two keys, as they stand in a file. */
export const TWO_KEYS = [1, 2]
  .map((id) => `${String(id)} ${Buffer.alloc(32, id).toString('base64')}`)
  .join('\n')
  .concat(' from 2026-12-01T12:30:30Z\n');

/** Tokens under these keys, at a time in Unix seconds. */
export function createTokens(clock: () => number, keys = TWO_KEYS): TokenMaker {
  return new TokenMaker(clock, parseSecretKeys(keys));
}

/** Rules of a text in YAML, compiled with tokens. */
export function secretRules(text: string, tokens: TokenMaker): Rules {
  return compileRules(parseText(text).domains, { tokens });
}
