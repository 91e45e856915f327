import { EMPTY } from 'rxjs';
import type { Statistics } from '../../core/ports';
import {
  createLimitsFrom,
  type LimitsFromEvent,
  type LimitsFromHashes,
} from '../../counters/limits-from/create-limits-from';
import type { CounterStore } from './store';
import type { OutageLog } from '../outage-log';

export interface OpenLimitsDeps {
  readonly store: Pick<CounterStore, 'readFields'>;
  readonly statistics: Pick<Statistics, 'count'>;
  readonly monotonicMs: () => number;
  readonly outages: OutageLog;
}

/** Limits of values from hashes in the counter store; none where the store has no hashes. */
export function openLimitsFrom({ store, outages, ...deps }: OpenLimitsDeps): LimitsFromHashes {
  const { readFields } = store;
  if (readFields === undefined)
    return {
      limitOf: () => undefined,
      read: () => Promise.resolve(),
      run$: EMPTY,
      close: () => undefined,
    };
  const onEvent = (event: LimitsFromEvent): void => {
    report(outages, event);
  };
  return createLimitsFrom({ ...deps, readFields, onEvent });
}

function report(outages: OutageLog, event: LimitsFromEvent): void {
  const { key } = event;
  const hash = JSON.stringify(key.slice(0, 80));
  const names = {
    read: `limits_from ${key}`,
    valid: `limits_from of ${key}`,
    present: `limits_from in ${key}`,
  };
  switch (event.kind) {
    case 'read':
    case 'valid':
    case 'present':
      outages.succeeded(names[event.kind]);
      return;
    case 'forgotten':
      for (const name of Object.values(names)) outages.removed(name);
      return;
    case 'lost':
      outages.failed(
        names.present,
        {
          level: 'warn',
          failing: `all limits of the hash ${hash} are gone, the limit of the rule applies to every value: the hash was deleted, or the store is empty`,
          ended: `the hash ${hash} holds limits again`,
        },
        { fields: event.fields },
      );
      return;
    case 'failed':
      outages.failed(
        names.read,
        {
          level: 'warn',
          failing: `cannot read limits from the hash ${hash}, keeping the last ones read`,
          ended: `limits are read from the hash ${hash} again`,
        },
        { reason: event.reason },
      );
      return;
    case 'invalid':
      outages.failed(
        names.valid,
        {
          level: 'warn',
          failing: `fields of the hash ${hash} hold no limit, expected a whole number that the rule can count, or unlimited; the limit of the rule applies`,
          ended: `all fields in use of the hash ${hash} hold a limit again`,
        },
        { found: event.found.slice(0, 40) },
        event.fields,
      );
  }
}
