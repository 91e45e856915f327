import { quote } from '../../../fields/located';
import type { BlockDefinition } from '../definition';
import { RuleFields } from './rule-fields';

/**
 * `block` of a rule or of one limit, with its defaults filled in; undefined when there is none. Mistakes are reported.
 * `periodSeconds`: the (longest) period of what it blocks; undefined: it has none.
 */
export function readBlock(
  holder: RuleFields<'rate_limit'> | RuleFields<'descriptor'>,
  periodSeconds: number | undefined,
): BlockDefinition | undefined {
  const map = holder.mapOf('block');
  if (map === undefined) return undefined;
  const fields = new RuleFields(map, 'block', holder.report);
  const forMs = fields.read('for');
  const after = fields.has('after') ? fields.read('after') : 1;
  const withinMs = fields.read('within');
  if (after === 1) warnOfIdleWithin(fields);
  const lastsMs = forMs ?? 0;
  return {
    after: after ?? 1,
    withinMs: withinMs ?? (periodSeconds === undefined ? lastsMs : periodSeconds * 1_000),
    forMs: lastsMs,
    upToMs: readUpTo(fields, forMs) ?? lastsMs,
  };
}

/** One refusal is enough: `within` has no effect. */
function warnOfIdleWithin(fields: RuleFields<'block'>): void {
  if (!fields.has('within') || fields.isMisspelled('after')) return;
  const message = 'within has no effect with after: 1, under which the first refusal blocks';
  fields.warning('within', 'idle-key', message);
}

function readUpTo(fields: RuleFields<'block'>, forMs: number | undefined): number | undefined {
  const upToMs = fields.read('up_to');
  if (upToMs === undefined || forMs === undefined || upToMs >= forMs) return upToMs;
  const [upTo, lasts] = [fields.text('up_to') ?? '', fields.text('for') ?? ''];
  const message = `up_to ${quote(upTo)} is shorter than for ${quote(lasts)}; expected at least as long`;
  fields.error('up_to', 'up-to-below-for', message);
  return undefined;
}
