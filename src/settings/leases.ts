import { decimalNumber, oneOf, wholeNumber } from '../platform/env-table/scalars';
import { setting, timer } from './setting';

export const leasesTable = {
  mode: setting('KVSTORE_LEASES', oneOf('off', 'on'), {
    default: 'off',
    doc: 'on charges hits of busy counters in advance and spends them without the store, in Redis and memcached; leased: in a rule says it for that rule',
  }),
  timeMs: setting('LEASE_TIME', timer, {
    default: '100ms',
    doc: 'how far ahead hits are leased; those unused after twice as long are given back',
  }),
  share: setting('LEASE_SHARE', decimalNumber(0, 1), {
    default: '0.5',
    doc: 'share of what remains of a limit that all instances together may have on lease',
  }),
  minRate: setting('LEASE_MIN_RATE', wholeNumber(1, 1_000_000_000), {
    default: '20',
    doc: 'hits a second of one counter at this instance below which it is never leased',
  }),
  maxBytes: setting('LEASE_MAX_BYTES', wholeNumber(0), {
    default: '16777216',
    doc: 'memory for counters that are leased or might be; what does not fit is counted by itself',
  }),
};
