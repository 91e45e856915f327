import { eventually } from '../../support/edge/eventually';
import {
  backIn,
  HUNG,
  itSees,
  keyOf,
  patienceFor,
  startDrill,
  startLoad,
  untilHealthy,
  type Drill,
  type Fault,
} from '../../support/edge/fault-drill';
import { startSentinels, type SentinelSetup } from '../../support/edge/redis-sentinels';
import type { RedisServer } from '../../support/edge/redis-server';

jest.setTimeout(60_000);

let setup: SentinelSetup;
let drill: Drill | undefined;
beforeEach(async () => {
  setup = await startSentinels({ downAfterMs: 2_000 });
});
afterEach(async () => {
  await drill?.stop();
  await setup.stop();
});

async function start(fault: Fault): Promise<Drill> {
  const { masterName, sentinels } = setup.address;
  const places = sentinels.map(({ host, port }) => `${host}:${String(port)}`);
  return startDrill({
    KVSTORE_TYPE: 'sentinel',
    KVSTORE_URL: [masterName, ...places].join(','),
    ...patienceFor(fault),
  });
}

interface Case extends Fault {
  readonly mount: (master: RedisServer) => unknown;
}

const CASES: readonly Case[] = [
  {
    fault: 'the master is killed (SIGKILL), another one is promoted',
    sees: ['UNAVAILABLE'],
    counts: 'replicated',
    mount: (master) => master.kill(),
  },
  {
    fault: 'the master is stopped (SIGSTOP), another one is promoted',
    sees: HUNG,
    counts: 'replicated',
    mount: (master) => {
      master.pause();
    },
  },
  {
    fault: 'a failover is ordered (SENTINEL FAILOVER)',
    isBrief: true,
    sees: ['UNAVAILABLE'],
    counts: 'replicated',
    mount: () => setup.failOver(),
  },
];

const countOn = async ({ client }: RedisServer, value: string) =>
  Number(await client.get(keyOf(value)));

describe('Redis, sentinels', () => {
  CASES.forEach((each) => {
    itSees(each, async () => {
      drill = await start(each);
      const [master, next] = setup.servers;
      const load = startLoad(drill, 'caller');
      await load.untilAnswered(20);
      await each.mount(master);
      const promotedMs = await setup.untilPromoted(next);
      const copied = await countOn(next, 'caller');
      await eventually(async () => {
        expect(await countOn(next, 'caller')).toBeGreaterThan(copied);
        expect(load.lastAnswerMs).toBeGreaterThan(promotedMs);
      }, backIn(drill));
      if (each.isBrief !== true) await load.untilSeen(each.sees);
      await untilHealthy(drill);
      await load.stop();
      load.expectSeen(each.sees);
      load.expectCounted(await countOn(next, 'caller'), each.counts);

      const later = startLoad(drill, 'later');
      await later.untilAnswered(20, backIn(drill));
      await later.stop();
      later.expectSeen([]);
      later.expectCounted(await countOn(next, 'later'), 'exact');
      master.resume();
    });
  });
});
