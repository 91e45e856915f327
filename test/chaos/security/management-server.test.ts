import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../../support/edge/eventually';
import { expectFigure, isSiege } from '../../support/edge/figure';
import { besideAPoliteClient } from '../../support/edge/h2-siege';
import {
  expectAlive,
  ONE_RULE,
  startSmallService,
  stopSmallServices,
  using,
} from '../../support/edge/small-service';
import { startAdsServer, type AdsStream } from '../../support/edge/xds-server';
import { deltaResponse, response, userLimit } from '../../support/xds-messages';

/** A management server that sends without end: decisions go on, and its rules stay. */

afterAll(stopSmallServices);

const SECONDS = isSiege ? 2 : 0.2;
const MESSAGES_OF_TURN = 100;

const RULES = [userLimit('shop', 5)];
const STATE = response('v1', 'n1', RULES);
const DELTA = deltaResponse('n1', 'v1', RULES);

it.each([
  ['GRPC_XDS_SOTW', 'empty messages', STATE, () => ({})],
  ['GRPC_XDS_DELTA', 'empty messages', DELTA, () => ({})],
  [
    'GRPC_XDS_SOTW',
    'messages of types of their own',
    STATE,
    (at: number) => ({ typeUrl: String(at) }),
  ],
  [
    'GRPC_XDS_DELTA',
    'messages of types of their own',
    DELTA,
    (at: number) => ({ typeUrl: String(at) }),
  ],
])('decides by %s beside an endless stream of %s', async (type, _, rules, make) => {
  let isFlooding = false;
  let sent = 0;
  const flood = (stream: AdsStream): void => {
    if (!isFlooding) return;
    for (let i = 0; i < MESSAGES_OF_TURN; i += 1) stream.send(make((sent += 1)));
    setImmediate(flood, stream);
  };
  const server = await startAdsServer({
    onRequest(stream) {
      if (stream.requests.length > 1) return;
      stream.send(rules);
      flood(stream);
    },
  });
  const stopping = {
    stop() {
      server.stop();
      return Promise.resolve();
    },
  };
  await using(Promise.resolve(stopping));
  const service = await startSmallService(ONE_RULE, {
    CONFIG_TYPE: type,
    CONFIG_GRPC_XDS_SERVER_URL: server.target,
  });
  // Of both waits for a processor only a part held a call up, and they overlap: times with all of it.
  const { failures, rawWorstMs, rawP99Ms, grownMb } = await besideAPoliteClient(
    service,
    async () => {
      isFlooding = true;
      for (const stream of server.streams) flood(stream);
      await delay(SECONDS * 1_000);
      await eventually(() => {
        expect(sent).toBeGreaterThan(1_000);
      });
      isFlooding = false;
    },
  );
  expectAlive(service);
  expect(failures).toEqual([]);
  expect(await (await fetch(`${service.debug}/rlconfig`)).text()).toContain('shop.user: unit=HOUR');
  expectFigure({ name: 'p99 of decisions', value: rawP99Ms, unit: 'ms', below: 50 });
  expectFigure({ name: 'longest wait for a decision', value: rawWorstMs, unit: 'ms', below: 200 });
  expectFigure({ name: 'growth of memory', value: grownMb, unit: 'MB', below: 100 });
});
