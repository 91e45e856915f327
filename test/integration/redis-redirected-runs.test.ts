import { counterStates } from '../support/limiters';
import type { CounterReply, Increment } from '../../src/core/ports';
import { ask, slowRule, usedHits } from '../support/algorithm-increments';
import { batch, freshKey, increment } from '../support/increments';
import { startRedisCluster, type RedisCluster } from '../support/edge/redis-cluster';
import { connectRedisCounters, stopRedisCounters } from '../support/edge/redis-counters';
import type { RedisServer } from '../support/edge/redis-server';

jest.setTimeout(60_000);

let cluster: RedisCluster;
beforeAll(async () => {
  cluster = await startRedisCluster();
});
afterEach(stopRedisCounters);
afterAll(() => cluster.stop());

type MakeIncrement = (key: string, hits?: number) => Increment;

const rule = slowRule('gcra');
const gcra: MakeIncrement = (key, hits) => ask(rule, key, hits);

describe.each([
  ['fixed windows, by script', true, increment],
  ['fixed windows, without scripts', false, increment],
  ['gcra', true, gcra],
] as const)(
  'runs of which members are redirected while their slot moves, %s',
  (_, scripts, make) => {
    /** Counters of one slot: `old` is at its old place; what is made from now on is at the new one. */
    async function moving(oldHits: number) {
      const counters = await connectRedisCounters({
        address: cluster.address,
        scripts,
        timeoutMs: 10_000,
      });
      const slot = freshKey();
      const keyOf = (name: string) => `{${slot}}_${name}`;
      const addRun = (...run: readonly (readonly [name: string, hits: number])[]) =>
        counters.add(
          batch(
            run.map(([name, hits]) => make(keyOf(name), hits)),
            [run.length],
          ),
        );
      await addRun(['old', oldHits]);
      const from = await cluster.ownerOf(slot);
      const to = cluster.masters.find((server) => server !== from) as RedisServer;
      const move = await cluster.beginMoving(slot, to);
      const finish = async () => {
        await move.moveKeys();
        await move.finish();
      };
      const warnings = () =>
        counters.events.filter(
          (event) =>
            event.kind === 'hold-back-not-atomic' && event.reason.includes('several nodes'),
        );
      return { counters, keyOf, addRun, finish, warnings };
    }

    /** Hits in use; reading them changes nothing. */
    const seen = ({ after, states }: CounterReply) =>
      counterStates(states)?.map((state) => usedHits(state, rule)) ?? after;

    it('holds back what is redirected when a member that has answered is over its limit', async () => {
      const { addRun, finish, warnings } = await moving(10);
      await addRun(['new', 3]);
      const before = seen(await addRun(['new', 0]));
      const reply = await addRun(['old', 1], ['new', 1]);
      expect(reply.failures).toBeUndefined();
      expect(reply.held).toEqual([false, true]);
      await finish();
      expect(seen(await addRun(['new', 0]))).toEqual(before);
      expect(warnings()).toHaveLength(1);
    });

    it('holds back a member of a run that is redirected as a whole', async () => {
      const { addRun, finish, warnings } = await moving(1);
      await addRun(['full', 10]);
      const before = seen(await addRun(['new', 0]));
      const reply = await addRun(['full', 1], ['new', 1]);
      expect(reply.failures).toBeUndefined();
      expect(reply.held).toEqual([false, true]);
      await finish();
      expect(seen(await addRun(['new', 0]))).toEqual(before);
      expect(warnings()).toHaveLength(1);
    });

    it('holds back nothing where none is over, or all are, and counts each once', async () => {
      const { addRun, finish } = await moving(9);
      await addRun(['new', 9]);
      for (let round = 0; round < 2; round += 1) {
        const { failures, held } = await addRun(['old', 1], ['new', 1]);
        expect([failures, held?.includes(true) ?? false]).toEqual([undefined, false]);
      }
      await finish();
      const [old, newer] = seen(await addRun(['old', 0], ['new', 0]));
      if (make === increment) expect([old, newer]).toEqual([11, 11]);
      else expect(newer).toBe(10);
    });
  },
);
