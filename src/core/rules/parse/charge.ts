import { describePlace, type Place } from '../../../fields/problem';
import type { RuleFields } from './rule-fields';
import { whyNotTogether, type StoreAbilities } from './store-abilities';

/** What the files of one domain say of how their requests are charged. */
export interface ChargeSaid {
  readonly charge: 'together' | 'apart';
  readonly file: string;
  readonly at: Place;
}

/** Reads `charge` at the top of a file, and compares it with what other files of the domain say; one that says nothing follows them. */
export function readCharge(
  fields: RuleFields<'file'>,
  {
    charges,
    abilities,
  }: { readonly charges: ChargeSaid[]; readonly abilities: StoreAbilities | undefined },
): void {
  const node = fields.get('charge');
  const charge = fields.oneOf('charge', ['together', 'apart'], 'bad-charge');
  if (node === undefined || charge === undefined) return;
  const { file } = fields.report;
  const [first] = charges;
  charges.push({ charge, file, at: node.at });
  if (first !== undefined && first.charge !== charge) {
    const where = first.file === file ? '' : ` of ${first.file}`;
    const message = `charge is ${charge} here and ${first.charge} ${describePlace(first.at)}${where}; expected the same throughout the domain`;
    fields.error('charge', 'different-charge', message);
  }
  const why =
    charge === 'together' && abilities !== undefined ? whyNotTogether(abilities) : undefined;
  if (why !== undefined) fields.error('charge', 'store-without-algorithms', why);
}
