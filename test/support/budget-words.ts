/** Each word of budgets in a rule of its own, and what every place says once a service refused by it. */

export const RULES = {
  'config/llm.yaml': `domain: llm
descriptors:
  - key: listed
    rate_limits:
      - { unit: year, requests_per_unit: 3 }
      - { unit: week, requests_per_unit: 100, algorithm: gcra, name: weekly }
  - key: reserving
    rate_limit: { unit: year, requests_per_unit: 10 }
    reserve: { lease: 10m }
  - key: flying
    rate_limit: { algorithm: in_flight, requests_per_unit: 1 }
  - key: blocking
    rate_limit: { unit: year, requests_per_unit: 1, block: { for: 1h } }
`,
  'config/shop.yaml': `domain: shop
charge: together
descriptors:
  - key: user
    rate_limit: { unit: year, requests_per_unit: 1 }
  - key: team
    rate_limit: { unit: year, requests_per_unit: 5 }
`,
};

/** One call: its descriptors, and hits if they say some. */
export type Call = readonly [descriptors: readonly string[], hits?: number];

export interface Word {
  readonly domain: string;
  /** The last of them is refused. */
  readonly calls: readonly Call[];
  /** The descriptor of its counter. */
  readonly counter: string;
  /** The rule that refuses, and what of a list does. */
  readonly by: string;
  readonly limit?: string;
  readonly words: string;
  readonly status: readonly unknown[];
  /** Lines of an explanation of the last call. */
  readonly explained: readonly RegExp[];
  readonly read: object;
  /** After a reset of counts alone. */
  readonly reset: object;
  readonly metrics: readonly string[];
}

const ofRule = (stat: string, domain: string, key: string, more = '') =>
  `ratelimit_service_rate_limit_${stat}{domain="${domain}",key1="${key}"${more}}`;

export const WORDS: Readonly<Record<string, Word>> = {
  rate_limits: {
    domain: 'llm',
    calls: [[['listed=a'], 3], [['listed=a']]],
    counter: 'listed=a',
    by: 'llm.listed',
    limit: 'year',
    words: '3 per year and 100 per week (bursts of 100)',
    status: ['OVER_LIMIT', 3, 'YEAR', 0],
    explained: [/left: year 0 \(resets in \d+ seconds\), weekly 97 \(resets in \d+ seconds\)/],
    read: {
      count: 3,
      limits: [
        { name: 'year', remaining: 0 },
        { name: 'weekly', remaining: 97 },
      ],
    },
    reset: { count: 0, limits: [{ remaining: 3 }, { remaining: 100 }] },
    metrics: [`${ofRule('over_one_limit', 'llm', 'listed', ',limit="year"')} 1`],
  },
  reserve: {
    domain: 'llm',
    calls: [
      [['reserving=a,reserve=x'], 3],
      [['reserving=a,reserve=y'], 6],
      [['reserving=a,settle=x'], 2],
      [['reserving=a,settle=none'], 2],
      [['reserving=a,reserve=z'], 4],
    ],
    counter: 'reserving=a',
    by: 'llm.reserving',
    words: '10 per year, reservations of up to 10 minutes',
    status: ['OVER_LIMIT', 10, 'YEAR', 0],
    explained: [
      /, 1 open, 6 held$/m,
      /left: year 2 \(/,
      /for 4 more: OVER_LIMIT, remaining 0, resets in 1 s/,
    ],
    read: { count: 8, held: 6, open: 1, limits: [{ name: 'year', remaining: 2 }] },
    reset: { count: 6, held: 6, open: 1 },
    metrics: [
      `${ofRule('reserved', 'llm', 'reserving')} 9`,
      `${ofRule('settled', 'llm', 'reserving')} 2`,
      `${ofRule('settled_unknown', 'llm', 'reserving')} 1`,
    ],
  },
  in_flight: {
    domain: 'llm',
    calls: [[['flying=a,reserve=x']], [['flying=a,reserve=y']]],
    counter: 'flying=a',
    by: 'llm.flying',
    words: 'at most 1 in flight, reservations of up to 10 minutes',
    status: ['OVER_LIMIT', 1, 'UNKNOWN', 0],
    explained: [
      /, 1 open, 1 held$/m,
      /left: in_flight 0$/m,
      /for 1 more: OVER_LIMIT, remaining 0, resets in 1 s/,
    ],
    read: { count: 1, held: 1, open: 1, limits: [{ name: 'in_flight', remaining: 0 }] },
    reset: { count: 1, open: 1 },
    metrics: [
      `${ofRule('reserved', 'llm', 'flying')} 1`,
      `${ofRule('over_limit', 'llm', 'flying')} 1`,
    ],
  },
  block: {
    domain: 'llm',
    calls: [[['blocking=a']], [['blocking=a']]],
    counter: 'blocking=a',
    by: 'llm.blocking',
    words: '1 per year, blocked for 1 hour after a refusal',
    status: ['OVER_LIMIT', 1, 'YEAR', 0],
    explained: [/, blocked for 3[56]\d\d more seconds/],
    read: { count: 1, blockedSeconds: expect.any(Number) as number },
    reset: { count: 0 },
    metrics: [`${ofRule('blocks', 'llm', 'blocking')} 1`],
  },
  'charge: together': {
    domain: 'shop',
    calls: [[['user=a']], [['user=a', 'team=t']]],
    counter: 'team=t',
    by: 'shop.user',
    words: '1 per year, refused hits are not charged, charge: together',
    status: ['OVER_LIMIT', 1, 'YEAR', 0],
    explained: [/^charge: together: nothing is charged while one refuses$/m],
    read: { count: 0 },
    reset: { count: 0 },
    metrics: [
      `${ofRule('over_limit', 'shop', 'user')} 1`,
      `${ofRule('within_limit', 'shop', 'team')} 1`,
    ],
  },
};

/** The call as a body of /json. */
export function requestOf(domain: string, [texts, hits]: Call) {
  const descriptors = texts.map((text) => ({
    entries: text.split(',').map((entry) => {
      const [key = '', value = ''] = entry.split('=');
      return { key, value };
    }),
    ...(hits !== undefined && { hitsAddend: String(hits) }),
  }));
  return { domain, descriptors };
}
