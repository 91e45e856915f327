import type { ErrorClass } from '../../../../fields/report';
import type { FieldType } from '../../../../fields/types';
import type { Kind } from '../../../kinds/kind';

/** One field of a rule file. From it come its reader, its row in docs/rules.md and what editors know of it. */
export interface FieldRow {
  readonly type: FieldType<unknown>;
  /** For docs/rules.md, as Markdown; without its marks the hint of editors. */
  readonly about: string;
  /** It may be neither absent nor empty: the class of the mistake, and what is expected. */
  readonly required?: readonly [ErrorClass, string];
  /** Without this it has no effect, which is a remark. */
  readonly needs?: 'rate_limit' | CalendarNeed;
  /** What cannot stand beside it, with the class of the mistake. */
  readonly excludes?: Excluded;
  /** The kinds of limits that have it, and the class of the mistake under another one. */
  readonly ofKinds?: readonly [(kind: Kind) => boolean, ErrorClass];
  /** It has a meaning even with nothing in it. */
  readonly mayBeEmpty?: true;
  /** The messages of xDS have a field for it; others stand in `metadata.weir`. */
  readonly isInXds?: true;
}

/** In the order in which they are checked. */
export const CALENDAR_NEEDS = ['calendar: true', 'unit: week', 'unit: month'] as const;
export type CalendarNeed = (typeof CALENDAR_NEEDS)[number];

/** `unlimited: true`, and `algorithm: in_flight`. */
export interface Excluded {
  readonly unlimited: ErrorClass;
  readonly in_flight?: ErrorClass;
}

export type FieldRows = Readonly<Record<string, FieldRow>>;

/** By fields that say the period of a limit, and by those that say how hits count in it. */
export const OF_PERIOD: Excluded = {
  unlimited: 'unit-beside-unlimited',
  in_flight: 'bad-in-flight',
};
export const OF_COUNTING: Excluded = {
  unlimited: 'algorithm-beside-unlimited',
  in_flight: 'bad-in-flight',
};
export const NOT_UNLIMITED: Excluded = { unlimited: 'algorithm-beside-unlimited' };
