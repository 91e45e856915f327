import type { ValueLimit } from '../../core/rules/rules';

/** The limit in a field; `invalid` when it is neither a whole number that the rule can count nor `unlimited`. */
export function parseLimit(text: string, maxLimit: number): ValueLimit | 'invalid' {
  if (text === 'unlimited') return 'unlimited';
  if (!/^\d{1,10}$/.test(text)) return 'invalid';
  const limit = Number(text);
  return limit <= maxLimit ? limit : 'invalid';
}
