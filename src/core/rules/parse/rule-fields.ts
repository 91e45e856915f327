import { Fields } from '../../../fields/fields';
import { quote, type LocatedMap } from '../../../fields/located';
import type { Words } from '../../../fields/names';
import type { Report } from '../../../fields/report';
import { ALL_NAMES, belongsIn, LEVELS, RULE_LEVELS } from './table/levels';
import type { FieldRow } from './table/row';
import type { FieldValue, Level, NameOf } from './table/levels';

/** A map of a rule file, which is read by the table of its level. */
export class RuleFields<L extends Level> extends Fields<NameOf<L>> {
  readonly #level: L;

  constructor(map: LocatedMap, level: L, report: Report) {
    super(map, WORDS[level], report);
    this.#level = level;
  }

  rowOf(name: NameOf<L>): FieldRow {
    return RULE_LEVELS[this.#level].fields[name] as FieldRow;
  }

  /** The value of a field. Mistakes are reported. */
  read<N extends NameOf<L>>(name: N): FieldValue<L, N> {
    const { type, required } = this.rowOf(name);
    if (required !== undefined && this.#isEmpty(name) && !this.isMisspelled(name)) {
      const { called = `the ${this.report.noun}` } = RULE_LEVELS[this.#level];
      const [mistake, expected] = required;
      this.error(name, mistake, `${called} has no ${name}: expected ${expected}`);
    }
    return type.read(this, name) as FieldValue<L, N>;
  }

  #isEmpty(name: NameOf<L>): boolean {
    const node = this.given(name);
    return node === undefined || (node.kind === 'scalar' && node.text === '');
  }

  /** Whether it is there, with or without a value, and its name alone has a meaning. */
  isNamed(name: NameOf<L>): boolean {
    return this.rowOf(name).mayBeEmpty === true && this.get(name) !== undefined;
  }
}

const elsewhere = { known: ALL_NAMES, misplaced };

/** The cast: `fromEntries` forgets which names belong to which level. */
const WORDS = Object.fromEntries(
  LEVELS.map((level) => {
    const { where, fields } = RULE_LEVELS[level];
    return [level, { where, known: Object.keys(fields), elsewhere }];
  }),
) as unknown as { readonly [L in Level]: Words<NameOf<L>> };

function misplaced(name: string, { where }: Words): string | undefined {
  const levels = LEVELS.filter((level) => belongsIn(level, name));
  if (levels.length === 0) return undefined;
  const places = levels.map((level) => RULE_LEVELS[level].where).join(' or ');
  const isEnforced = name === 'shadow_mode' && where === RULE_LEVELS.rate_limit.where;
  const so = isEnforced ? ', so this limit is enforced' : '';
  return `the key ${quote(name)} has no effect ${where}${so}; it belongs ${places}`;
}
