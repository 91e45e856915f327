import fc from 'fast-check';
import type { BudgetState, Reservation } from '../../../src/core/kinds/kind';
import type { Increment } from '../../../src/core/ports';
import { createMemoryCounters } from '../../../src/counters/memory/create-memory-counters';
import { budgetEntry, budgetLimiterOf } from '../../support/budget-arbitraries';
import { increment } from '../../support/increments';

const NOW = 1_795_240_200;
const SLOTS = 3;
const LIMIT = 40;
const LEASE = 20;
const KEY = '{c:k~1}~r';

const entry = (sort: 'slots' | 'window', limit: number) =>
  budgetEntry({ sort, limit, periodSeconds: 31_536_000 });

const GATE = budgetLimiterOf({
  entries: [entry('slots', SLOTS), entry('window', LIMIT)],
  reserve: { leaseMs: LEASE * 1_000, isReleased: false },
});

/** What a caller does, who may crash after any of it: then it never settles. */
interface Caller {
  readonly startsAt: number;
  readonly takes: number;
  /** Calls that are sent again, for their replies were lost. */
  readonly reserveTries: number;
  readonly settleTries: number;
  readonly crashes: boolean;
  readonly estimate: number;
  readonly actual: number;
}

const CALLERS = fc.array(
  fc.record<Caller>({
    startsAt: fc.nat({ max: 60 }),
    takes: fc.nat({ max: 40 }),
    reserveTries: fc.integer({ min: 1, max: 3 }),
    settleTries: fc.integer({ min: 1, max: 3 }),
    crashes: fc.boolean(),
    estimate: fc.nat({ max: 8 }),
    actual: fc.nat({ max: 12 }),
  }),
  { minLength: 1, maxLength: 14 },
);

type Call = Caller & {
  readonly at: number;
  readonly id: string;
  readonly mode: 'reserve' | 'settle';
};

/** All calls in the order in which they come. */
function callsOf(callers: readonly Caller[]): readonly Call[] {
  const calls = callers.flatMap((caller, number): readonly Call[] => {
    const { startsAt, takes, reserveTries, settleTries, crashes } = caller;
    const id = String(number);
    const end = startsAt + takes;
    const times = (count: number, at: number, mode: Call['mode']): readonly Call[] =>
      Array.from({ length: count }, (_, again) => ({ ...caller, at: at + again / 10, id, mode }));
    const reserves = times(reserveTries, startsAt, 'reserve');
    return crashes ? reserves : [...reserves, ...times(settleTries, end + 1, 'settle')];
  });
  return calls.sort((a, b) => a.at - b.at);
}

/** What the world outside sees: who runs, until when, and what was paid. */
class Outside {
  readonly #running = new Map<string, { readonly until: number; readonly estimate: number }>();
  charged = 0;

  get open(): number {
    return this.#running.size;
  }

  get held(): number {
    return [...this.#running.values()].reduce((sum, { estimate }) => sum + estimate, 0);
  }

  lapseUntil(at: number): void {
    for (const [id, { until, estimate }] of this.#running) {
      if (until > at) continue;
      this.#running.delete(id);
      this.charged += estimate;
    }
  }

  see({ id, mode, at, estimate, actual }: Call, isOver: boolean): void {
    if (mode === 'settle') {
      if (this.#running.delete(id)) this.charged += actual;
    } else if (!isOver && !this.#running.has(id)) {
      this.#running.set(id, { until: at + LEASE, estimate });
      expect(this.charged + this.held).toBeLessThanOrEqual(LIMIT);
    }
    expect(this.open).toBeLessThanOrEqual(SLOTS);
  }
}

function createCounter() {
  const counters = createMemoryCounters({ clock: () => NOW });
  return {
    async play(at: number, hits: number, reservation?: Reservation) {
      const one: Increment = increment(KEY, hits, { limiter: GATE, reservation });
      const batch = { increments: [one], groupEnds: undefined, nowSeconds: NOW + at };
      const { states } = await counters.add(batch);
      const state = states?.[0] as BudgetState;
      const { open, held, entries } = state;
      const isOver = GATE.kind.refuses(one, state);
      return { isOver, standing: [open, held, entries[1]?.used] };
    },
    close: () => counters.close(),
  };
}

it('never gives more slots than there are, and charges each hold once, over a thousand schedules with crashes', async () => {
  await fc.assert(
    fc.asyncProperty(CALLERS, async (callers) => {
      const counter = createCounter();
      const outside = new Outside();
      for (const call of callsOf(callers)) {
        const { at, id, mode, estimate, actual } = call;
        outside.lapseUntil(at);
        const hits = mode === 'reserve' ? estimate : actual;
        outside.see(call, (await counter.play(at, hits, { mode, id, saysHits: true })).isOver);
        const { standing } = await counter.play(at, 0);
        expect(standing).toEqual([outside.open, outside.held, outside.charged]);
      }
      outside.lapseUntil(10_000);
      const { standing } = await counter.play(10_000, 0);
      expect(standing).toEqual([0, 0, outside.charged]);
      await counter.close();
    }),
    { numRuns: 1_000 },
  );
});
