import { finish, forEach, until } from '../../../src/core/steps';

const many = (count: number) => Array.from({ length: count }, (_, at) => at);

it.each([
  [0, 0],
  [255, 0],
  [256, 1],
  [511, 1],
  [512, 2],
])('%p items let others go first %p times', (count, pauses) => {
  const done: number[] = [];
  const steps = forEach(many(count), (item) => done.push(item));
  expect([...steps]).toHaveLength(pauses);
  expect(done).toEqual(many(count));
});

it('does no more before it lets others go first', () => {
  const done: number[] = [];
  forEach(many(600), (item) => done.push(item)).next();
  expect(done).toEqual(many(256));
});

it('gives what work in steps comes to', () => {
  function* work(): Generator<undefined, string, void> {
    yield;
    yield;
    return 'made';
  }
  expect(finish(work())).toBe('made');
});

it('waits for a promise and gives what it settles with', async () => {
  const steps = until(Promise.resolve('settled'));
  const step = steps.next();
  expect(step.done).toBe(false);
  await step.value;
  expect(steps.next()).toEqual({ done: true, value: 'settled' });
});
