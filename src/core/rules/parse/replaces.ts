import { readFields } from './fields';
import { quote, type Located } from './located';
import type { Place } from './problem';
import type { Report } from './report';
import { readMaps, readText } from './values';

/** The limit names of one domain while its files are read. */
export interface LimitNames {
  readonly defined: Set<string>;
  readonly replaced: { readonly name: string; readonly at: Place; readonly report: Report }[];
}

/** The names in a `replaces` list; those that are empty or the limit's own are reported. */
export function readReplaces(
  node: Located | undefined,
  ownName: string,
  names: LimitNames,
  report: Report,
): string[] {
  return readMaps(node, 'replaces', report).flatMap((entry) => {
    const fields = readFields(entry, 'replaces', report);
    const field = fields.get('name');
    const name = readText(field, 'name', report);
    if (name === undefined || fields.isMisspelled('name')) return [];
    const { at } = field ?? entry;
    if (name === '') {
      report.error(at, 'empty-replaces', 'an entry of replaces has no name: expected a limit name');
    } else if (name === ownName) {
      const message = `replaces names this limit itself, ${quote(name)}; expected another one's name`;
      report.error(at, 'self-replaces', message);
    } else names.replaced.push({ name, at, report });
    return [name];
  });
}

/** Warns of names that no limit of the domain bears: most likely misspelled. */
export function warnOfUnknownNames({ defined, replaced }: LimitNames): void {
  for (const { name, at, report } of replaced) {
    if (defined.has(name)) continue;
    const message = `replaces ${quote(name)} has no effect: no limit of this domain has that name`;
    report.warning(at, 'replaces-nothing', message);
  }
}
