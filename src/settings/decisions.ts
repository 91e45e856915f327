import { boolean, decimalNumber, text, wholeNumber, oneOf } from '../platform/env-table/parsers';
import { setting, timer } from './setting';

const MAX_JITTER_SECONDS = 2 ** 31 - 1;

export const decisionsTable = {
  shadowMode: setting('SHADOW_MODE', boolean, 'false', {
    doc: 'true answers OK to every request and counts what would have been refused',
  }),
  quotaMode: setting('QUOTA_MODE', boolean, 'false', {
    doc: 'true treats every rule as a quota: a request is over only when all its quotas are',
  }),
  nearLimitRatio: setting('NEAR_LIMIT_RATIO', decimalNumber(0, 1), '0.8', {
    doc: 'share of a limit above which hits count as near it',
  }),
  dynamicMetadata: setting('RESPONSE_DYNAMIC_METADATA', boolean, 'false', {
    doc: 'true puts the request and the metadata of its rules into the answer',
  }),
  holdBack: setting('STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT', boolean, 'false', {
    doc: 'true leaves the other counters of a request alone when one of them is over its limit',
  }),
  unitMultiplierOnWire: setting('UNIT_MULTIPLIER_ON_WIRE', boolean, 'false', {
    doc: 'true says the unit of a period of several units and, in field 4 of a status, their number; false says no unit',
  }),
  keyPrefix: setting('CACHE_KEY_PREFIX', text, '', { doc: 'prefix of every counter key' }),
  ttlJitterSeconds: setting(
    'EXPIRATION_JITTER_MAX_SECONDS',
    wholeNumber(0, MAX_JITTER_SECONDS),
    '300',
    { doc: 'a counter lives for its window plus a random time below this many seconds' },
  ),
  localCacheSizeBytes: setting('LocalCacheSizeInBytes', wholeNumber(0), '0', {
    aliases: ['LOCAL_CACHE_SIZE_IN_BYTES'],
    doc: 'size of the local cache of counters that are over their limit; 0 means none',
  }),
};

export const leasesTable = {
  mode: setting('KVSTORE_LEASES', oneOf('off', 'on'), 'off', {
    doc: 'on charges hits of busy counters in advance and spends them without the store, in Redis and memcached; leased: in a rule says it for that rule',
  }),
  timeMs: setting('LEASE_TIME', timer, '100ms', {
    doc: 'how far ahead hits are leased; those unused after twice as long are given back',
  }),
  share: setting('LEASE_SHARE', decimalNumber(0, 1), '0.5', {
    doc: 'share of what remains of a limit that all instances together may have on lease',
  }),
  minRate: setting('LEASE_MIN_RATE', wholeNumber(1, 1_000_000_000), '20', {
    doc: 'hits a second of one counter at this instance below which it is never leased',
  }),
  maxBytes: setting('LEASE_MAX_BYTES', wholeNumber(0), '16777216', {
    doc: 'memory for counters that are leased or might be; what does not fit is counted by itself',
  }),
};
