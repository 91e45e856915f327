import { NEVER } from 'rxjs';
import type { CounterReply, Counters } from '../../../../src/core/ports';
import { leasedCounters } from '../../../support/lease-play/leased-counters';
import { increment } from '../../../support/increments';
import { SOME_MATCH } from '../../../support/rules';

const RULE = { ...SOME_MATCH.rule, isLeased: true };

/** An instance whose clocks stand, and a store whose answers are given by hand. */
function start() {
  const waiting: ((reply: CounterReply) => void)[] = [];
  const sent: (readonly (number | bigint)[])[] = [];
  const counters: Counters = {
    add: ({ increments }) => {
      sent.push(increments.map(({ hits }) => hits));
      return new Promise((resolve) => waiting.push(resolve));
    },
    close: () => Promise.resolve(),
  };
  const leased = leasedCounters(
    { plain: counters, counters, clock: () => 0, monotonicMs: () => 0, wait: () => NEVER },
    {
      ...{ timeMs: 10_000, share: 0.5, instances: 1, minRate: 20, maxBytes: 100_000 },
      sendsApart: false,
    },
  );
  const ask = (hits: number, limit: number) =>
    leased.add({
      increments: [increment('edge_key_a_0', hits, { limit, rule: RULE })],
      groupEnds: undefined,
      nowSeconds: 0,
    });
  const answer = (...after: readonly number[]) =>
    waiting.shift()?.({ after, held: undefined, failures: undefined });
  const answerOver = () =>
    waiting.shift()?.({
      ...{ after: [0], held: undefined, failures: undefined },
      knownOverLimit: [true],
    });
  return {
    ask,
    answer,
    answerOver,
    sent,
    read: () => leased.readLease({ key: 'edge_key_a_0', rule: RULE }),
  };
}

it('judges an ask by its own limit, where a reload lowers it before the store answers', async () => {
  const { ask, answer, read } = start();
  const first = ask(20, 60);
  answer(20);
  await first;
  const second = ask(1, 60);
  answer(21, 41);
  await second;
  expect(read()).toEqual({ left: 20, of: 20 });

  // Of 30 hits 20 were on lease, and others took what was left: the limit of 60 is passed.
  const third = ask(30, 60);
  const reloaded = ask(1, 40);
  answer(70);
  answer(71);
  expect(await third).toMatchObject({ after: [70] });
  expect(await reloaded).toMatchObject({ after: [71] });
});

it('asks for no lease because a counter was known to be over a limit that a reload has raised since', async () => {
  const { ask, answer, answerOver, sent } = start();
  const first = ask(30, 60);
  answer(200);
  await first;
  const second = ask(1, 60);
  const raised = ask(1, 120);
  answerOver();
  await second;
  const fourth = ask(1, 120);
  expect(sent).toEqual([[30], [1], [1], [1]]);

  // What the store counts is news.
  answer(80);
  await raised;
  const fifth = ask(1, 120);
  answer(81);
  answer(82, 101);
  await Promise.all([fourth, fifth]);
  expect(sent.slice(4)).toEqual([[1, 20]]);
});
