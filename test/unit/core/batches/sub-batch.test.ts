import fc from 'fast-check';
import {
  createReplyDraft,
  draftOf,
  failedReply,
  finish,
  holdBackAt,
  toReply,
  deal,
  pick,
  scatter,
} from '../../../../src/core/batches/reply-draft';
import { StoreError } from '../../../../src/core/errors';
import type { CounterBatch, CounterReply } from '../../../../src/core/ports';
import { batch, increment } from '../../../support/increments';

const away = new StoreError('store_unavailable', 'away');
const full = new StoreError('store_unavailable', 'full', { fault: 'key' });
const state = (used: number) => ({ used, previous: 0, elapsed: 0 });
const numbered = (size: number, groupEnds?: readonly number[]): CounterBatch =>
  batch(
    Array.from({ length: size }, (_, at) => increment(String(at))),
    groupEnds,
  );
const keys = ({ increments }: CounterBatch) => increments.map(({ key }) => key);

describe('picking from a batch', () => {
  it('takes what is wanted, in order, and says where it stood', () => {
    const part = pick(numbered(5), (_, place) => place % 2 === 0);
    expect(keys(part)).toEqual(['0', '2', '4']);
    expect(part.places).toEqual([0, 2, 4]);
    expect(part.groupEnds).toBeUndefined();
  });

  it('keeps the rest of each run together, and none of which nothing is left', () => {
    const part = pick(numbered(7, [2, 2, 4, 6, 7]), ({ key }) => '1456'.includes(key));
    expect(part.groupEnds).toEqual([1, 3, 4]);
  });

  it('takes nothing, with no runs', () => {
    expect(pick(numbered(2, [1, 2]), () => false)).toMatchObject({
      increments: [],
      places: [],
      groupEnds: [],
    });
  });
});

it('deals every increment and every run to its part, in order', () => {
  const lengths = fc.array(fc.nat({ max: 4 }));
  fc.assert(
    fc.property(lengths, fc.infiniteStream(fc.nat({ max: 3 })), (sizes, hands) => {
      let end = 0;
      const groupEnds = sizes.map((size) => (end += size));
      const whole = numbered(end, groupEnds);
      const handOf = whole.increments.map(() => hands.next().value);
      const parts = deal(whole, (_, place) => handOf[place]);
      const runOf = (place: number) => groupEnds.findIndex((each) => place < each);
      for (const [hand, part] of parts) {
        expect(part.places).toEqual(
          handOf.flatMap((each, place) => (each === hand ? [place] : [])),
        );
        expect(keys(part)).toEqual(part.places.map(String));
        const ends = part.places.flatMap((place, at) =>
          runOf(place) === runOf(part.places[at + 1] ?? end) ? [] : [at + 1],
        );
        expect(part.groupEnds).toEqual(ends);
      }
      const dealt = [...parts.values()].flatMap(({ places }) => places);
      expect(dealt.sort((a, b) => a - b)).toEqual(whole.increments.map((_, place) => place));
    }),
  );
});

describe('scattering replies', () => {
  it('puts all that they say where it belongs', () => {
    const draft = createReplyDraft(7);
    scatter(draft, [1, 3], {
      after: [2, 0],
      held: undefined,
      failures: undefined,
      states: [undefined, state(4)],
    });
    scatter(draft, [0, 5, 6], {
      after: [3, 0, 4],
      held: [false, false, true],
      failures: new Map([[1, full]]),
    });
    scatter(draft, [2], away);
    scatter(draft, [4], {
      after: [0],
      held: undefined,
      failures: undefined,
      knownOverLimit: [true],
    });
    const no = new Array<boolean>(7).fill(false);
    expect(finish(draft)).toEqual({
      after: [3, 2, 0, 0, 0, 0, 4],
      held: no.with(6, true),
      failures: new Map([
        [5, full],
        [2, away],
      ]),
      states: new Array(7).fill(undefined).with(3, state(4)),
      knownOverLimit: no.with(4, true),
    });
  });

  it('replaces what the draft said', () => {
    const draft = createReplyDraft(3);
    scatter(draft, [0, 1], away);
    holdBackAt(draft, 2, 9);
    scatter(draft, [0, 1, 2], {
      after: [5, 0, 6],
      held: undefined,
      failures: new Map([[1, full]]),
    });
    expect(finish(draft)).toEqual({
      after: [5, 0, 6],
      held: [false, false, false],
      failures: new Map([[1, full]]),
    });
  });

  it('leaves a finished reply without failures when none is left', () => {
    const draft = createReplyDraft(1);
    scatter(draft, [0], away);
    scatter(draft, [0], { after: [1], held: undefined, failures: undefined });
    expect(finish(draft)).toEqual({ after: [1], held: undefined, failures: undefined });
  });

  it('keeps what was counted where only a part failed', () => {
    const draft = createReplyDraft(2);
    scatter(draft, [0], { after: [4], held: undefined, failures: undefined });
    scatter(draft, [1], away);
    expect(toReply(draft)).toEqual({
      after: [4, 0],
      held: undefined,
      failures: new Map([[1, away]]),
    });
  });

  it('says of increments that failed as a whole why each did', () => {
    const { after, failures } = failedReply(numbered(3).increments, away);
    expect(after).toEqual([0, 0, 0]);
    expect([...(failures ?? [])]).toEqual([0, 1, 2].map((place) => [place, away]));
  });

  it('notes what was seen of a counter that is held back, a count or a state', () => {
    const draft = createReplyDraft(3);
    holdBackAt(draft, 0, 7);
    holdBackAt(draft, 1, state(5));
    holdBackAt(draft, 2, undefined);
    expect(finish(draft)).toEqual({
      after: [7, 0, 0],
      held: [true, true, true],
      failures: undefined,
      states: [undefined, state(5), undefined],
    });
  });

  it('throws the first failure when every part failed, unless all may fail', () => {
    const draft = createReplyDraft(3);
    scatter(draft, [1], full);
    scatter(draft, [0, 2], away);
    expect(() => toReply(draft)).toThrow(full);
    expect(finish(draft).failures?.size).toBe(3);
  });
});

it('cuts from a reply what belongs to a part of its batch', () => {
  const reply: CounterReply = {
    after: [1, 0, 0, 4],
    held: [true, false, false, false],
    failures: new Map([[2, away]]),
    states: [undefined, state(2), undefined, undefined],
  };
  expect(finish(draftOf(reply, 1, 3))).toEqual({
    after: [0, 0],
    held: [false, false],
    failures: new Map([[1, away]]),
    states: [state(2), undefined],
  });
  expect(finish(draftOf(reply, 1, 3)).states).toHaveLength(2);
  expect(finish(draftOf(reply, 0, 1))).toEqual({ after: [1], held: [true], failures: undefined });
});
