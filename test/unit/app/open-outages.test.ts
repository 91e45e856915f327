import { createOpenOutages } from '../../../src/app/outage-log';

function start(quietMs = 2_000) {
  let nowMs = 0;
  const outages = createOpenOutages<string>(() => nowMs, { quietMs, maxOpen: 3 });
  const pass = (ms: number) => (nowMs += ms);
  return { outages, pass };
}

it('lists what fails with its latest reason and since when', () => {
  const { outages, pass } = start();
  outages.failed('calls', 'refused');
  pass(5_000);
  outages.failed('calls', 'no answer');
  expect(outages.list()).toEqual([{ name: 'calls', reason: 'no answer', lastedMs: 5_000 }]);
});

it('takes what comes and goes within the quiet time for one outage', () => {
  const { outages, pass } = start();
  outages.failed('calls', 'refused');
  outages.succeeded('calls');
  pass(1_999);
  outages.failed('calls', 'refused');
  expect(outages.list()).toMatchObject([{ lastedMs: 1_999 }]);
  outages.succeeded('calls');
  pass(2_000);
  outages.failed('calls', 'refused');
  expect(outages.list()).toMatchObject([{ lastedMs: 0 }]);
});

it('forgets what has worked for the quiet time, whatever else works', () => {
  const { outages, pass } = start();
  outages.succeeded('calls');
  outages.failed('calls', 'refused');
  outages.succeeded('rules');
  outages.succeeded('calls');
  expect(outages.list()).toHaveLength(1);
  pass(2_000);
  expect(outages.list()).toEqual([]);
});

it('follows so many at most and forgets the oldest', () => {
  const { outages } = start();
  for (const name of ['a', 'b', 'c', 'd']) outages.failed(name, '');
  expect(outages.list().map(({ name }) => name)).toEqual(['b', 'c', 'd']);
});
