import type { Fields } from './fields';
import { describePlace, type Place } from './problem';
import type { Report } from './report';
import type { StoreAbilities } from './store-abilities';
import { whyNotTogether } from './store-abilities';
import { readOneOf } from './values';

/** What the files of one domain say of how their requests are charged. */
export interface ChargeSaid {
  readonly charge: 'together' | 'apart';
  readonly file: string;
  readonly at: Place;
}

/** Reads `charge` at the top of a file, and compares it with what other files of the domain say; one that says nothing follows them. */
export function readCharge(
  fields: Fields<'file'>,
  {
    charges,
    abilities,
  }: { readonly charges: ChargeSaid[]; readonly abilities: StoreAbilities | undefined },
  report: Report,
): void {
  const node = fields.get('charge');
  const known = ['together', 'apart'] as const;
  const charge = readOneOf(node, 'charge', known, report, (at, message) => {
    report.error(at, 'bad-charge', message);
  });
  if (node === undefined || charge === undefined) return;
  const { at } = node;
  const [first] = charges;
  charges.push({ charge, file: report.file, at });
  if (first !== undefined && first.charge !== charge) {
    const where = first.file === report.file ? '' : ` of ${first.file}`;
    const message = `charge is ${charge} here and ${first.charge} ${describePlace(first.at)}${where}; expected the same throughout the domain`;
    report.error(at, 'different-charge', message);
  }
  const why =
    charge === 'together' && abilities !== undefined ? whyNotTogether(abilities) : undefined;
  if (why !== undefined) report.error(at, 'store-without-algorithms', why);
}
