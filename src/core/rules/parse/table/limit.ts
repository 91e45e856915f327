import { FLAG, oneOf, TEXT, whole } from '../../../../fields/types';
import { MAX_OPEN } from '../../../budgets/budget';
import type { Kind } from '../../../kinds/kind';
import { KINDS, kindOf, type AlgorithmName } from '../../../kinds/kinds';
import type { WeekStart } from '../../../windows/calendar';
import { NOT_UNLIMITED, OF_COUNTING, OF_PERIOD, type FieldRows } from './row';
import { duration, listOf, mapOf, SIMPLE_TIME, UNIT } from './types';

/** The algorithm of limits on open reservations (budgets.md section 5). */
export const IN_FLIGHT = 'in_flight';

/** The names of the kinds; `token_bucket` is what Envoy's users search for. */
const ALGORITHMS = [
  ...new Set(KINDS.map(({ words }) => words.name)),
  'token_bucket',
  IN_FLIGHT,
] as const;

/** The names of such kinds. */
export function algorithmsOf(isMeant: (kind: Kind) => boolean): readonly AlgorithmName[] {
  return [...new Set(KINDS.filter((kind) => isMeant(kind)).map(({ words }) => words.name))];
}

export const UINT32 = { least: 0, most: 4_294_967_295 };
/** Ten years of 365 days. */
export const MAX_WINDOW_SECONDS = 315_360_000;
export const OPEN_RESERVATIONS = { least: 1, most: MAX_OPEN };
const BURST = { least: 1, most: kindOf({ algorithm: 'gcra' }).range.maxLimit };
/** Every month has 28 days. */
const MONTH_STARTS = { least: 1, most: 28 };
const WEEK_STARTS: readonly WeekStart[] = ['monday', 'sunday', 'saturday'];

/** `rate_limit`, and an entry of `rate_limits`. */
export const LIMIT_FIELDS = {
  unit: {
    type: UNIT,
    about:
      'required unless unlimited; any letter case; a month has 30 days and a year 365 unless `calendar` is true',
    excludes: OF_PERIOD,
    isInXds: true,
  },
  requests_per_unit: {
    type: whole(UINT32, 'wrong-type'),
    about: 'required unless unlimited; 0 blocks every request',
    isInXds: true,
  },
  unlimited: {
    type: FLAG,
    about: 'never limits; no `unit` beside it',
    isInXds: true,
  },
  name: { type: TEXT, about: 'lets other rules replace this one', isInXds: true },
  replaces: {
    type: listOf('replaces', 'list of maps with `name`'),
    about:
      'where one request meets both, the named limits of this domain do not apply and do not count',
    isInXds: true,
  },
  algorithm: {
    type: oneOf(ALGORITHMS, 'bad-algorithm'),
    about:
      'how hits are counted ([which algorithm?](algorithms.md)); `token_bucket` is `gcra`; missing: `fixed_window`',
    excludes: NOT_UNLIMITED,
  },
  burst: {
    type: whole(BURST, 'bad-burst'),
    about: '`gcra` only: hits that fit at once; missing: `requests_per_unit`',
    ofKinds: [({ hasBurst }) => hasBurst, 'burst-without-gcra'],
    excludes: OF_COUNTING,
  },
  charge_denied: {
    type: FLAG,
    about: 'whether refused hits are charged; missing: only by `fixed_window`',
    excludes: OF_COUNTING,
  },
  unit_multiplier: {
    type: whole({ least: 1, most: MAX_WINDOW_SECONDS }, 'bad-multiplier'),
    about:
      'units of a period, at most ten years together: `unit: minute` and 5 is 5 minutes; missing: 1',
    excludes: OF_PERIOD,
  },
  calendar: {
    type: FLAG,
    about:
      'periods of the calendar instead of ones counted from 1970; `day`, `week`, `month`, `year`',
    excludes: OF_PERIOD,
  },
  time_zone: {
    type: { ...TEXT, words: 'IANA name, such as `Europe/Berlin`' },
    about: 'of the calendar; missing: `UTC`',
    needs: 'calendar: true',
  },
  month_start: {
    type: whole(MONTH_STARTS, 'bad-month-start'),
    about: 'first day of a calendar month (a billing day); missing: 1',
    needs: 'unit: month',
  },
  week_start: {
    type: oneOf(WEEK_STARTS, 'bad-week-start'),
    about: 'first day of a calendar week; missing: `monday`',
    needs: 'unit: week',
  },
  limits_from: {
    type: mapOf('limits_from', 'map with `key` and `refresh`'),
    about:
      'values may have limits of their own, in a hash of the store ([below](#limits-of-single-values))',
    excludes: { unlimited: 'bad-limits-from' },
  },
  block: {
    type: mapOf('block', 'map'),
    about: 'refusals by this limit block for a while ([below](#blocks))',
    excludes: NOT_UNLIMITED,
  },
  leased: {
    type: FLAG,
    about:
      'whether hits are charged in advance ([leases](stores/leases.md)); missing: `KVSTORE_LEASES`',
  },
} as const satisfies FieldRows;

export const REPLACES_FIELDS = {
  name: {
    type: TEXT,
    about: 'the name of a limit',
    required: ['empty-replaces', 'a limit name'],
  },
} as const satisfies FieldRows;

export const LIMITS_FROM_FIELDS = {
  key: {
    type: TEXT,
    about: 'the key of the hash',
    required: ['bad-limits-from', 'the key of a hash in the counter store'],
  },
  refresh: {
    type: duration('1s', '24h', SIMPLE_TIME),
    about: 'how often the hash is read; missing: `10s`',
  },
} as const satisfies FieldRows;

export const RESERVE_FIELDS = {
  lease: { type: duration('1s', '24h'), about: 'how long hits are held; missing: `10m`' },
  unsettled: {
    type: oneOf(['charge', 'release'], 'bad-unsettled'),
    about: 'what becomes of hits that are not settled by then; missing: `charge`',
  },
  settle_zero: {
    type: oneOf(['settle', 'ignore'], 'bad-unsettled'),
    about:
      'what a settle does that says 0 hits: it ends the reservation, or only reads, for [a proxy that asks before it knows](gateways/agentgateway.md); missing: `settle`',
  },
} as const satisfies FieldRows;

export const BLOCK_FIELDS = {
  for: {
    type: duration('1ms', '8760h'),
    about: 'how long the first block lasts',
    required: ['missing-for', 'how long it lasts, such as for: 15m'],
  },
  after: {
    type: whole({ least: 1, most: 1_000_000 }, 'bad-after'),
    about: 'refusals that begin a block; missing: 1',
  },
  within: {
    type: duration('1ms', '8760h'),
    about:
      'the time in which they have to fall; missing: the period, in a list the longest one, of a limit in a list its own, else `for`',
  },
  up_to: {
    type: duration('1ms', '8760h'),
    about:
      'at least as long as `for`: each block is twice as long as the one before, up to this; missing: `for`',
  },
} as const satisfies FieldRows;
