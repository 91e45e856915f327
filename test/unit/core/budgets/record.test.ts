import { recordOf, stateOf } from '../../../../src/core/budgets/record';
import { limiterOfLimits, momentAfter, START } from '../../../support/budget-limiters';
import { inFlight } from '../../../support/budgets';

const minute = { unit: 'MINUTE', requestsPerUnit: 10 } as const;
const bucket = { unit: 'MINUTE', requestsPerUnit: 60, algorithm: 'gcra' } as const;
const small = { unit: 'MINUTE', requestsPerUnit: 20, algorithm: 'sliding_window' } as const;
const sliding = { unit: 'HOUR', requestsPerUnit: 100, algorithm: 'sliding_window' } as const;
const block = { after: 2, withinMs: 10_000, forMs: 30_000 };

const { budget } = limiterOfLimits([{ ...minute, block }, bucket, small, inFlight(3), sliding], {
  block,
});
const now = momentAfter(5);
const END = String(START + 60);
const micros = (seconds: number): string => String((START + seconds) * 1_000_000);
const ms = (seconds: number): string => String((START + seconds) * 1_000);

/** What is written of the state that is read from a text. */
const again = (text: string): string | undefined => {
  const state = stateOf(budget, text, now);
  return state && recordOf(budget, state);
};

const idOf = (at: number): string => budget.entries[at]?.id ?? '';
const [window, tokens, log, , hour] = [0, 1, 2, 3, 4].map(idOf);
/** What stands where nothing is used, and no block has a state. */
const unused = (): string => again('') ?? '';

it('says what each limit has used, and nothing of slots or of blocks without a state', () => {
  expect(
    unused()
      .split(';')
      .map((part) => part.split(' ')[0]),
  ).toEqual([window, tokens, log, hour, '']);
  expect(unused()).toContain(`${String(window)} 0 ${END};`);
  expect(unused()).toContain(`${String(log)} 0;`);
});

it.each([
  ['a window', `${String(window)} 7 ${END};`],
  ['a log', `${String(log)} ${micros(1)} ${micros(2)} ${micros(2)};`],
  ['the block of the rule', `b 1 ${ms(15)} 0 0 ${ms(15)};`],
  ['the block of a limit', `b:${String(window)} 0 0 ${ms(35)} 30000 ${ms(35)};`],
])('is written as it was read: %s', (_, part) => {
  const [name = ''] = part.split(' ');
  const others = unused()
    .split(';')
    .filter((other) => other !== '' && !other.startsWith(`${name} `))
    .map((other) => `${other};`);
  const written = again([part, ...others].join(''));
  expect(written).toContain(part);
  for (const other of others) expect(written).toContain(other);
});

it('reads a log in parts of eight figures, the last of which is filled with zeros', () => {
  const parts = [`${String(log)} ${micros(1)} ${micros(2)};`, `${String(log)}+1 ${micros(3)} 0 0;`];
  expect(again(parts.join(''))).toContain(`${String(log)} ${micros(1)} ${micros(2)} ${micros(3)};`);
  expect(again(`${String(log)}+12 ${micros(3)} 0;`)).toContain(`${String(log)} ${micros(3)};`);
  expect(again(`${String(log)} 0 0;${String(log)}+1 ${micros(3)};`)).toContain(
    `${String(log)} ${micros(3)};`,
  );
});

it('reads blocks by the names of 1.0.0-rc.1: the place of their limit', () => {
  const figures = `0 0 ${ms(35)} 30000 ${ms(35)};`;
  expect(again(`b0 ${figures}`)).toContain(`b:${String(window)} ${figures}`);
  expect(again(`b1 ${figures}`)).toBe(unused());
});

it('reads a small sliding window from the window that it was in 1.0.0-rc.1', () => {
  const was = String(log).replace(/^l/, 's');
  const index = Math.floor(START / 60);
  expect(again(`${was} ${String(index)} 0 2;`)?.split(';')[2]).toMatch(/^\S+ \d+ \d+$/);
  expect(again(`${was} 1 2 3 4 5;`)).toBe(unused());
});

it.each([
  ['no end', `${String(window)} 7 ${END}`],
  ['no figures', `${String(window)};`],
  ['a name of two words', `a b 1;`],
  ['a figure below 0', `${String(window)} -7 ${END};`],
  ['a window of one figure', `${String(window)} 7;`],
  ['a window of three', `${String(window)} 7 ${END} 1;`],
  ['a bucket of one', `${String(tokens)} 7;`],
  ['what only ends as a record does', `?${String(window)} 7 ${END};`.replace('?', ' ')],
])('is not read with %s', (_, text) => {
  expect(stateOf(budget, text, now)).toBeUndefined();
});

it('leaves out parts of limits that the rule does not have', () => {
  expect(again('w999 7 3; x 1;'.replace(' x', 'x'))).toBe(unused());
});
