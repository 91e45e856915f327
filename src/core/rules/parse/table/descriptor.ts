import * as schemas from '../../../../fields/schema';
import { FLAG, oneOf, TEXT } from '../../../../fields/types';
import { ON_STORE_ERROR } from '../../definition';
import { TOKEN } from '../../secrets';
import { NOT_UNLIMITED, type FieldRows } from './row';
import { listOf, mapOf, referenceTo } from './types';

/** How to get what one entry of `rate_limit` cannot have. */
export const SEE_SEVERAL_LIMITS =
  'for several limits of one value use rate_limits, see docs/rules.md';

export const MAX_LIMITS = 8;

/** All of them apply, so that none may be unlimited. */
const LIMITS = {
  ...listOf('rate_limit', `list of 1 to ${String(MAX_LIMITS)} maps`),
  schema: {
    ...{ type: 'array', minItems: 1, maxItems: MAX_LIMITS },
    items: {
      allOf: [referenceTo('rate_limit'), { properties: { unlimited: { not: schemas.TRUE } } }],
    },
  },
};

/** The top of a file. */
export const FILE_FIELDS = {
  domain: {
    type: TEXT,
    about:
      'what a proxy sends as the domain; one file for each, unless `MERGE_DOMAIN_CONFIG` is true',
    required: ['empty-domain', 'domain: with a non-empty string'],
    isInXds: true,
  },
  descriptors: {
    type: listOf('descriptor', 'list of descriptors'),
    about: 'the entries of the first level',
    isInXds: true,
  },
  charge: {
    type: oneOf(['together', 'apart'], 'bad-charge'),
    about:
      '`together`: a request that any rule of the domain refuses charges none of its counters ([all or nothing](#all-or-nothing)); missing: `apart`',
  },
} as const satisfies FieldRows;

export const DESCRIPTOR_FIELDS = {
  key: {
    type: TEXT,
    about: 'the key of an entry of a request',
    required: ['empty-key', 'a non-empty string'],
    isInXds: true,
  },
  value: {
    type: TEXT,
    about:
      'missing: any value, each with its own counter. Each `*` in it matches zero or more characters',
    isInXds: true,
  },
  rate_limit: {
    type: mapOf('rate_limit', 'map', `; ${SEE_SEVERAL_LIMITS}`),
    about: 'the limit; without one, matching requests are not limited',
    isInXds: true,
  },
  rate_limits: {
    type: LIMITS,
    about: 'in place of `rate_limit`: limits that all hold ([below](#several-limits-in-one-rule))',
  },
  reserve: {
    type: mapOf('reserve', 'map with `lease`, `unsettled` and `settle_zero`, or nothing'),
    about: 'hits may be held before they are known ([below](#reservations))',
    needs: 'rate_limit',
    excludes: NOT_UNLIMITED,
    mayBeEmpty: true,
  },
  block: {
    type: mapOf('block', 'map'),
    about: 'refusals block for a while ([below](#blocks))',
    needs: 'rate_limit',
    excludes: NOT_UNLIMITED,
  },
  descriptors: {
    type: listOf('descriptor', 'list of descriptors'),
    about: 'entries of the next level',
    isInXds: true,
  },
  shadow_mode: {
    type: FLAG,
    about: 'count, but always answer OK',
    needs: 'rate_limit',
    isInXds: true,
  },
  quota_mode: {
    type: FLAG,
    about: 'over the limit only when all quota rules of the request are, or any other rule is',
    needs: 'rate_limit',
    isInXds: true,
  },
  detailed_metric: {
    type: FLAG,
    about: 'metrics name the values of the request',
    isInXds: true,
  },
  value_to_metric: { type: FLAG, about: 'metrics name the value of this level' },
  share_threshold: {
    type: FLAG,
    about: 'one counter for all values of a wildcard; needs a `*` in `value`',
  },
  metadata: {
    type: { ...mapOf('metadata', 'map'), schema: { type: ['object', 'null'] } },
    about: 'free-form, comes back in `dynamic_metadata` when `RESPONSE_DYNAMIC_METADATA` is true',
    needs: 'rate_limit',
    isInXds: true,
  },
  on_store_error: {
    type: oneOf(ON_STORE_ERROR, 'bad-on-store-error', false),
    about:
      'the answer while the store is unavailable ([outages](outages.md)); missing: `KVSTORE_FAILURE_MODE`',
    needs: 'rate_limit',
  },
  hash_value: {
    type: {
      ...FLAG,
      words: 'boolean or `sha256`',
      schema: { anyOf: [schemas.FLAG, { const: 'sha256' }] },
    },
    about:
      'values of this key are secret: everything but matching shows tokens ([secrets.md](secrets.md))',
  },
  value_hash: {
    type: { ...TEXT, schema: schemas.textLike(TOKEN) },
    about:
      'in place of `value`: the token of the secret value that matches, as `ratelimit-hash-value` prints it',
  },
} as const satisfies FieldRows;
