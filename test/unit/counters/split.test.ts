import { StoreError } from '../../../src/core/errors';
import type { CounterBatch, CounterReply } from '../../../src/core/ports';
import { addSplit, type SplitOptions } from '../../../src/counters/split';
import { batch, increment } from '../../contract/counters.contract';

/** A part that notes what it is asked, and what it answers when it is told to. */
interface Part {
  readonly name: string;
  readonly asked: CounterBatch[];
  readonly counts: Map<string, number>;
  fault: StoreError | undefined;
}

function createPart(name: string): Part {
  return { name, asked: [], counts: new Map(), fault: undefined };
}

function answer(part: Part, asked: CounterBatch): Promise<CounterReply> {
  part.asked.push(asked);
  if (part.fault !== undefined) return Promise.reject(part.fault);
  const after = asked.increments.map(({ key, hits }) => {
    const count = (part.counts.get(key) ?? 0) + Number(hits);
    part.counts.set(key, count);
    return count;
  });
  return Promise.resolve({ after, held: undefined, failures: undefined });
}

const away = new StoreError('store_unavailable', 'away');

function setUp(parallelism = 0) {
  const [a, b] = [createPart('a'), createPart('b')];
  let warnings = 0;
  const options: SplitOptions<Part> = {
    add: answer,
    read: (part, keys) =>
      part.fault === undefined
        ? Promise.resolve(new Map(keys.map((key) => [key, part.counts.get(key) ?? 0])))
        : Promise.reject(part.fault),
    parallelism,
    onNotAtomic: () => (warnings += 1),
  };
  const add = (asked: CounterBatch) =>
    addSplit(asked, ({ key }) => (key.startsWith('a') ? a : b), options);
  return { a, b, add, options, warnings: () => warnings };
}

describe('a batch over several parts', () => {
  it('goes on as it is when one part has it all', async () => {
    const { a, b, add } = setUp();
    const asked = batch([increment('a1'), increment('a2')], [1, 2]);
    await add(asked);
    expect(a.asked).toEqual([asked]);
    expect(b.asked).toEqual([]);
  });

  it('asks each part once and puts the answers where they belong', async () => {
    const { a, b, add } = setUp();
    const reply = await add(
      batch([increment('a', 1), increment('b', 5), increment('a', 2), increment('b', 1)]),
    );
    expect(reply).toEqual({ after: [1, 5, 3, 6], held: undefined, failures: undefined });
    expect([a.asked.length, b.asked.length]).toEqual([1, 1]);
  });

  it('fails the increments of a part that fails, and no others', async () => {
    const { b, add } = setUp();
    b.fault = away;
    const reply = await add(batch([increment('b'), increment('a'), increment('b')]));
    expect(reply.after).toEqual([0, 1, 0]);
    expect([...(reply.failures ?? [])]).toEqual([
      [0, away],
      [2, away],
    ]);
  });

  it('rejects when every part fails', async () => {
    const { a, b, add } = setUp();
    a.fault = b.fault = away;
    await expect(add(batch([increment('b'), increment('a')]))).rejects.toBe(away);
  });

  it('does not hide a fault of ours', async () => {
    const { options } = setUp();
    const fault = new TypeError('ours');
    const failing = { ...options, add: () => Promise.reject(fault) };
    const parts = [createPart('x'), createPart('y')] as const;
    const asked = batch([increment('0'), increment('1')]);
    const adding = addSplit(asked, ({ key }) => parts[Number(key) as 0 | 1], failing);
    await expect(adding).rejects.toBe(fault);
  });

  it.each([
    [0, 2],
    [1, 1],
    [2, 2],
  ])('asks as many parts at the same time as %i says', async (parallelism, most) => {
    const { options } = setUp(parallelism);
    let now = 0;
    let seen = 0;
    const add = async (part: Part, asked: CounterBatch): Promise<CounterReply> => {
      now += 1;
      seen = Math.max(seen, now);
      await new Promise(setImmediate);
      now -= 1;
      return answer(part, asked);
    };
    const parts = [createPart('x'), createPart('y')] as const;
    const asked = batch([increment('0'), increment('1')]);
    await addSplit(asked, ({ key }) => parts[Number(key) as 0 | 1], { ...options, add });
    expect(seen).toBe(most);
  });
});

describe('runs over several parts', () => {
  it('stay whole where each lies in one part', async () => {
    const { a, b, add, warnings } = setUp();
    const asked = batch(
      ['a1', 'a2', 'b1', 'a3'].map((key) => increment(key)),
      [2, 2, 3, 4],
    );
    await add(asked);
    expect(a.asked[0]?.groupEnds).toEqual([2, 3]);
    expect(b.asked[0]?.groupEnds).toEqual([1]);
    expect(warnings()).toBe(0);
  });

  it('are decided on from what was read when one reaches into two parts', async () => {
    const { a, b, add, warnings } = setUp();
    a.counts.set('a', 10);
    const reply = await add(batch([increment('a'), increment('b')], [2]));
    expect(reply).toEqual({ after: [11, 0], held: [false, true], failures: undefined });
    expect(a.asked[0]?.groupEnds).toBeUndefined();
    expect(b.asked).toEqual([]);
    expect(warnings()).toBe(1);
  });

  it('fail where the part cannot be read', async () => {
    const { b, add } = setUp();
    b.fault = away;
    const { after, failures } = await add(batch([increment('a'), increment('b')], [2]));
    expect(after[0]).toBe(1);
    expect(failures?.get(1)).toBe(away);
  });
});
