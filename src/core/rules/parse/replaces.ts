import { quote } from '../../../fields/located';
import type { Place } from '../../../fields/problem';
import type { Report } from '../../../fields/report';
import { RuleFields } from './rule-fields';

/** The limit names of one domain while its files are read. */
export interface LimitNames {
  readonly defined: Set<string>;
  readonly replaced: { readonly name: string; readonly at: Place; readonly report: Report }[];
}

/** The names in the `replaces` of a limit; empty ones and the limit's own are reported. */
export function readReplaces(
  limit: RuleFields<'rate_limit'>,
  ownName: string,
  names: LimitNames,
): string[] {
  const { report } = limit;
  return limit.read('replaces').flatMap((entry) => {
    const fields = new RuleFields(entry, 'replaces', report);
    const name = fields.read('name');
    if (name === undefined || fields.isMisspelled('name')) return [];
    if (name !== '' && name === ownName) {
      const message = `replaces names this limit itself, ${quote(name)}; expected another one's name`;
      fields.error('name', 'self-replaces', message);
    } else if (name !== '') names.replaced.push({ name, at: fields.at('name'), report });
    return [name];
  });
}

/** Warns of names that no limit of the domain has: most likely misspelled. */
export function warnOfUnknownNames({ defined, replaced }: LimitNames): void {
  for (const { name, at, report } of replaced) {
    if (defined.has(name)) continue;
    const message = `replaces ${quote(name)} has no effect: no limit of this domain has that name`;
    report.warning(at, 'replaces-nothing', message);
  }
}
