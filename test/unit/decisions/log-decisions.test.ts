import type { DecisionRecord } from '../../../src/core/decision/decision-record';
import { createMemoryCounters } from '../../../src/counters/memory/create-memory-counters';
import type { DecisionOptions } from '../../../src/decisions/decide-batch';
import { budgetOf, inFlight } from '../../support/budgets';
import { createDecider } from '../../support/decider';
import { descriptor, request } from '../../support/requests';
import { rulesOf } from '../../support/rules';

const rules = rulesOf('d', [
  { key: 'plain', limit: [1, 'HOUR'] },
  { key: 'dark', limit: [1, 'HOUR'], shadowMode: true },
  { key: 'quota', limit: [1, 'HOUR'], quotaMode: true },
  {
    key: 'listed',
    ...budgetOf([
      { unit: 'MINUTE', requestsPerUnit: 3 },
      { unit: 'HOUR', requestsPerUnit: 9, name: 'long' },
    ]),
  },
  { key: 'tokens', ...budgetOf([{ unit: 'HOUR', requestsPerUnit: 9 }], { reserve: {} }) },
  { key: 'slots', ...budgetOf([inFlight(1)]) },
]);

/** What the log gets of one request after others of the same batch. */
async function logged(asks: readonly string[], options: Partial<DecisionOptions> = {}) {
  const records: DecisionRecord[] = [];
  const wanted: boolean[] = [];
  const log = {
    isWanted(isRefused: boolean) {
      wanted.push(isRefused);
      return true;
    },
    write: (record: DecisionRecord) => records.push(record),
  };
  const clock = () => 1_000.0009;
  const counters = createMemoryCounters({ clock });
  const decide = createDecider({ rules: { current: rules }, counters, clock, log }, options);
  await decide(request('d', asks.map(toDescriptor)));
  const [record] = records;
  return { wanted: wanted[0], record };
}

/** `key=value key=value *HITS` */
const toDescriptor = (text: string) => {
  const [hits] = /(?<=\*)\d+$/.exec(text) ?? [];
  const entries = text.replace(/ \*\d+$/, '').split(' ');
  return descriptor(entries, { hits: hits === undefined ? undefined : Number(hits) });
};

it('has the time of the decision, rounded down to a millisecond', async () => {
  expect((await logged(['plain=a'])).record?.time).toBe('1970-01-01T00:16:40.000Z');
});

it.each<[string, readonly string[], readonly (string | undefined)[] | undefined]>([
  ['no rule has a list', ['plain=a', 'tokens=a reserve=1', 'slots=a'], undefined],
  ['there is no rule', ['none=a'], undefined],
  ['one of them has one', ['plain=a', 'listed=a', 'none=a'], [undefined, 'minute', undefined]],
  ['both have one', ['listed=a', 'listed=b *4'], ['minute', 'minute']],
])('names the limit of each list that a status reports, where %s', async (_, asks, limits) => {
  expect((await logged(asks)).record?.limits).toEqual(limits);
});

it('says what each descriptor does with a reservation', async () => {
  const { record } = await logged(['tokens=a reserve=1', 'none=a', 'plain=a', 'tokens=a settle=1']);
  expect(record?.reservations).toEqual(['reserve', undefined, undefined, 'settle']);
  expect(record?.metrics).toEqual(['d.tokens', undefined, 'd.plain', 'd.tokens']);
});

it.each<[readonly string[], Partial<DecisionOptions>, boolean, boolean, boolean]>([
  [['plain=a'], {}, false, false, false],
  [['none=a'], {}, false, false, false],
  [['plain=a *2'], {}, true, false, false],
  [['plain=a *2'], { shadowMode: true }, true, true, false],
  [['plain=a'], { shadowMode: true }, false, false, false],
  [['plain=a *2', 'none=a'], { shadowMode: true }, true, true, false],
  [['plain=a', 'dark=b', 'none=a'], {}, false, false, false],
  [['dark=a *2'], {}, true, true, false],
  [['dark=a *2', 'plain=a'], {}, true, true, false],
  [['dark=a *2', 'none=a'], {}, true, true, false],
  [['dark=a *2', 'plain=a *2'], {}, true, false, false],
  [['quota=a *2'], {}, true, false, true],
  [['quota=a *2'], { shadowMode: true }, true, true, false],
  [['quota=a *2', 'quota=b'], { shadowMode: true }, true, false, false],
  [['plain=a *2'], { quotaMode: true }, true, false, true],
  [['quota=a *2', 'quota=b'], {}, true, false, false],
  [['quota=a *2', 'plain=a *2'], {}, true, false, false],
  [['slots=a reserve=1', 'slots=a reserve=2'], {}, true, false, false],
])(
  'of %j with %j says whether it was over, in shadow or by quota',
  async (asks, options, ...said) => {
    const { wanted, record } = await logged(asks, options);
    expect([wanted, record?.isShadow, record?.isQuota]).toEqual(said);
  },
);
