import { Subject } from 'rxjs';
import { StoreError } from '../../../src/core/errors';
import type { CounterBatch, CounterReply } from '../../../src/core/ports';
import { createPipelineWindow } from '../../../src/counters/pipeline-window';
import { batch, increment } from '../../contract/counters.contract';

const OK = (...after: readonly number[]): CounterReply => ({
  after,
  held: undefined,
  failures: undefined,
});
const away = new StoreError('store_unavailable', 'away');

/** A store that answers what the test gives, and windows that the test ends. */
function setUp(...replies: readonly (CounterReply | Error)[]) {
  const asked: CounterBatch[] = [];
  const windows: Subject<void>[] = [];
  let isClosed = false;
  let hasEnded = false;
  const left = [...replies];
  const { before, run$ } = createPipelineWindow(() => {
    const window = new Subject<void>();
    windows.push(window);
    return window;
  });
  const counters = before({
    add: (each) => {
      asked.push(each);
      const reply = left.shift();
      return reply === undefined || reply instanceof Error
        ? Promise.reject(reply ?? new Error('no more replies'))
        : Promise.resolve(reply);
    },
    close: () => {
      isClosed = true;
      return Promise.resolve();
    },
  });
  run$.subscribe({ complete: () => (hasEnded = true) });
  return { counters, asked, windows, isClosed: () => isClosed, hasEnded: () => hasEnded };
}

const runs = (...ends: readonly number[]) => ({ groupEnds: ends });

it('gathers the batches of a window into one, and gives each its own reply', async () => {
  const { counters, asked, windows } = setUp(OK(1, 2, 3), OK(4));
  const first = counters.add(batch([increment('a'), increment('b')]));
  const second = counters.add(batch([increment('c')]));
  expect(asked).toEqual([]);
  windows[0]?.next();
  expect(await Promise.all([first, second])).toEqual([OK(1, 2), OK(3)]);
  expect(asked.map(({ increments }) => increments.map(({ key }) => key))).toEqual([
    ['a', 'b', 'c'],
  ]);
  const third = counters.add(batch([increment('d')]));
  windows[1]?.next();
  expect(await third).toEqual(OK(4));
});

it('keeps runs apart; what stands alone is a run of its own beside them', async () => {
  const { counters, asked, windows } = setUp({
    ...OK(0, 11, 1, 1),
    held: [true, false, false, false],
  });
  const held = counters.add(batch([increment('a'), increment('b')], [2]));
  const alone = counters.add(batch([increment('c'), increment('d')]));
  windows[0]?.next();
  expect(await held).toEqual({ ...OK(0, 11), held: [true, false] });
  expect(await alone).toEqual({ ...OK(1, 1), held: [false, false] });
  expect(asked[0]).toMatchObject(runs(2, 3, 4));
});

it('fails a batch of which nothing was counted, and no other', async () => {
  const { counters, windows } = setUp({
    ...OK(0, 2, 0),
    failures: new Map([
      [0, away],
      [2, away],
    ]),
  });
  const part = counters.add(batch([increment('a'), increment('b')]));
  const none = counters.add(batch([increment('c')]));
  windows[0]?.next();
  expect(await part).toEqual({ ...OK(0, 2), failures: new Map([[0, away]]) });
  await expect(none).rejects.toBe(away);
});

it('fails all when the call failed', async () => {
  const { counters, windows } = setUp(away);
  const all = [counters.add(batch([increment('a')])), counters.add(batch([increment('b')]))];
  windows[0]?.next();
  for (const each of all) await expect(each).rejects.toBe(away);
});

it('sends what it holds before it closes', async () => {
  const { counters, asked, windows, isClosed, hasEnded } = setUp(OK(1));
  const open = counters.add(batch([increment('a')]));
  await counters.close();
  expect(await open).toEqual(OK(1));
  expect(asked).toHaveLength(1);
  expect(isClosed()).toBe(true);
  windows[0]?.complete();
  expect(hasEnded()).toBe(true);
});

it('opens no window after it has closed', async () => {
  const { counters, windows } = setUp(away);
  await counters.close();
  await expect(counters.add(batch([increment('a')]))).rejects.toBe(away);
  expect(windows).toEqual([]);
});
