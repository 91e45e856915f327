import { describePlace, type Place } from '../../../fields/problem';
import type { RuleFields } from './rule-fields';
import { whyNotTogether, type StoreAbilities } from './store-abilities';

/** `charge` in the files of one domain. */
export interface ChargeField {
  readonly charge: 'together' | 'apart';
  readonly file: string;
  readonly at: Place;
}

/** Reads `charge` at the top of a file, and compares it with other files of the domain; a file without it follows them. */
export function readCharge(
  fields: RuleFields<'file'>,
  {
    charges,
    abilities,
  }: { readonly charges: ChargeField[]; readonly abilities: StoreAbilities | undefined },
): void {
  const node = fields.get('charge');
  const charge = fields.read('charge');
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
