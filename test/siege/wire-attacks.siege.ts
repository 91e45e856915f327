import { connectAttacker, ponged, type Attacker } from '../support/edge/h2-attacker';
import { startPolite } from '../support/edge/h2-polite';
import { besideAPoliteClient, startWarmService, type Outcome } from '../support/edge/h2-siege';
import { expectFigure } from '../support/edge/figure';
import { stopServices, type Service } from '../support/edge/service';
import { ATTACKS, CALMED, MAX_GROWTH_MB, attackOnce } from '../support/edge/wire-attacks';

const MAX_P99_MS = 100;
/** What a connection with nothing to do may cost. */
const MAX_IDLE_KB = 64;
/** An attacker whose connection is closed comes again, for this long. */
const SIEGE_MS = 3_000;

let service: Service;

beforeAll(async () => {
  service = await startWarmService();
});
afterAll(stopServices);

it.each(ATTACKS)('ends %s, again and again, and serves others meanwhile', async (_, make) => {
  const bytes = make();
  const ends: string[] = [];
  const outcome = await besideAPoliteClient(service, async () => {
    for (const began = Date.now(); Date.now() - began < SIEGE_MS;)
      ends.push(await attackOnce(service, bytes));
  });
  expect(new Set(ends)).toEqual(new Set([CALMED]));
  expectUnharmed(outcome);
  const { grownMb } = outcome;
  expectFigure({ name: 'growth of memory', value: grownMb, unit: 'MB', below: MAX_GROWTH_MB });
});

it('serves others beside 2,000 idle connections', async () => {
  const idle: Attacker[] = [];
  const outcome = await besideAPoliteClient(service, async () => {
    for (let opened = 0; opened < 2_000; opened += 100) {
      const more = Array.from({ length: 100 }, () => connectAttacker(service.grpc));
      idle.push(...(await Promise.all(more)));
    }
    await Promise.all(idle.map(ponged));
    const late = await startPolite(service);
    await Promise.all(idle.map(ponged));
    expect((await late.stop()).failures).toEqual([]);
  });
  const closed = idle.filter(({ isClosed }) => isClosed());
  for (const { socket } of idle) socket.destroy();
  expect(closed).toEqual([]);
  const value = (outcome.grownMb * 1024) / idle.length;
  expectFigure({ name: 'memory of a connection', value, unit: 'kB', below: MAX_IDLE_KB });
  expectUnharmed(outcome);
});

function expectUnharmed({ failures, calls, p99Ms }: Outcome): void {
  expect(failures).toEqual([]);
  expect(calls).toBeGreaterThan(100);
  expectFigure({ name: 'p99 of others', value: p99Ms, unit: 'ms', below: MAX_P99_MS });
}
