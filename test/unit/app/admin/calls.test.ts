import { readFileSync } from 'node:fs';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { createSnapshot } from '../../../../streams';
import { createAdmin } from '../../../../src/app/admin/create-admin';
import { chooseCounters } from '../../../../src/app/store/store';
import { StoreError } from '../../../../src/core/errors';
import { compileRules } from '../../../../src/core/rules/compile';
import { createOverLimitCache } from '../../../../src/counters/over-limit-cache';
import type { HotKeyView } from '../../../../src/stats/dashboard/live-figures';
import { createRegistry } from '../../../../src/stats/registry';
import { createAdminRouter } from '../../../../src/transport/debug/admin/admin-router';
import type { Task, WorkScheduler } from '../../../../src/transport/debug/work/work-scheduler';
import { PLAIN_DECISIONS } from '../../../support/decider';
import { createRecordingLogger } from '../../../support/recording-logger';
import { parseText } from '../../../support/rule-texts';
import { settingsOf } from '../../settings/results';

const NOW = 1_795_240_200;

const RULES = `
domain: shop
descriptors:
  - key: user
    rate_limit: { unit: hour, requests_per_unit: 10 }
  - key: job
    rate_limits:
      - { name: day, unit: day, requests_per_unit: 100 }
      - { name: now, algorithm: in_flight, requests_per_unit: 2 }
    reserve: { lease: 60s }
`;

/** What differs between the groups of calls. */
type Setup = 'write' | 'read' | 'no-rules' | 'cannot' | 'broken';

const away = new StoreError('store_unavailable', 'no answer');
const refused = new StoreError('store_unavailable', 'NOPERM');

const READING = { count: 0, expiresInSeconds: undefined, store: 'Redis at r1:6379', error: away };

function storeOf(setup: Setup) {
  const { logger } = createRecordingLogger();
  const settings = settingsOf({ BACKEND_TYPE: 'memory' });
  const statistics = createRegistry();
  const deps = { clock: () => NOW, monotonicMs: () => 0, random: () => 0, statistics, logger };
  const store = {
    ...chooseCounters(settings, deps),
    description: 'counters in memory',
    whyAway: () => undefined,
    listOpen: () => Promise.resolve([{ id: 'a1', hits: 3, endsInMs: 40_500 }]),
  };
  if (setup === 'cannot') {
    const localCache = createOverLimitCache({}, { sizeBytes: 100_000, leasedSeconds: 10 });
    const nothing = { listOver: undefined, listBlocked: undefined, listOpen: undefined };
    return { ...store, ...nothing, localCache, publishInvalidation: undefined };
  }
  if (setup !== 'broken') return store;
  return {
    ...store,
    reader: {
      read: (places: readonly unknown[]) => Promise.resolve(places.map(() => READING)),
    },
    writer: {
      remove: (places: readonly unknown[]) => Promise.resolve(places.map(() => refused)),
      set: (places: readonly unknown[]) => Promise.resolve(places.map(() => refused)),
    },
    listOpen: () => Promise.reject(away),
    whyAway: () => 'connection refused (r1:6379)',
  };
}

function hotKey(value: string, perSecond: number, isOver: boolean): HotKeyView {
  const entries = [['user', value]] as const;
  const text = `user_${value}`;
  return {
    id: value,
    domain: 'shop',
    entries,
    text,
    rule: 0,
    perSecond,
    value: 1,
    isOver,
    limit: 9,
    per: 'minute',
    resetsIn: 5,
  };
}

/** Takes the steps of each call at once; a step that waits for more than promises of this process is not waited for. */
const work: WorkScheduler = {
  begin(task) {
    void play(task);
    return undefined;
  },
  insist: () => undefined,
};

async function play({ run, failed }: Task): Promise<void> {
  try {
    const steps = run();
    for (let step = steps.next(); step.done !== true;) {
      let fault: { readonly error: unknown } | undefined;
      step.value?.catch((error: unknown) => (fault = { error }));
      for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
      step = fault === undefined ? steps.next() : steps.throw(fault.error);
    }
  } catch (error) {
    failed(error);
  }
}

function serve(setup: Setup) {
  const { logger, lines } = createRecordingLogger();
  const api = setup === 'read' ? setup : 'write';
  // Only what is shared needs to be published.
  const place = setup === 'cannot' ? { KVSTORE_URL: 'r1:6379' } : { BACKEND_TYPE: 'memory' };
  const { options } = createAdmin(
    settingsOf({ ADMIN_API: api, DEBUG_HOST: '127.0.0.1', ...place }),
    {
      rules: createSnapshot(
        setup === 'no-rules' ? undefined : compileRules(parseText(RULES).domains),
      ),
      whyNoRules: { current: 'no rules were loaded yet' },
      rulesVersion: () => ({
        version: 'sha256:3f9c',
        loadedAt: '2026-11-22T13:00:00.000Z',
        source: 'files',
      }),
      lastLoad: () => undefined,
      workerCount: 1,
      live: {
        start: () => undefined,
        stop: () => undefined,
        hot: (seconds) => ({
          hotError: 0.5,
          hot: [hotKey('ann', seconds, false), hotKey('bob', 1, true)],
        }),
      },
      registry: createRegistry(),
      clock: () => NOW,
      monotonicMs: () => 0,
      options: PLAIN_DECISIONS,
      store: storeOf(setup),
      logger,
    },
  );
  return { route: options && createAdminRouter(options, work), lines };
}

/** One call as `METHOD path body`, and its answer as `status header body`. */
async function call(router: ReturnType<typeof serve>['route'], line: string): Promise<string> {
  const [, method = '', type = 'application/json', url = '', body = ''] =
    /^([A-Z]+)(?::(\S+))? (\S+) ?(.*)$/.exec(line) ?? [];
  const socket = new Socket();
  Object.defineProperty(socket, 'remoteAddress', { value: '10.0.0.9' });
  const request = Object.assign(new IncomingMessage(socket), { method, url });
  request.headers['content-type'] = type;
  const response = new ServerResponse(request);
  const sent = new Promise<string>((resolve) => {
    response.end = (text) => {
      const allowed = response.getHeader('Allow');
      const head = [
        response.statusCode,
        ...(allowed === undefined ? [] : [`Allow=${String(allowed)}`]),
      ];
      resolve(`${head.join(' ')} ${String(text)}`);
      return response;
    };
  });
  router?.(request, response, { tokenId: '0a1b2c3d' });
  request.push(body);
  request.push(null);
  return (
    (await sent)
      .replace(/"version":"[\d.]+[^"]*","node":"[^"]*"/, '"version":"V","node":"N"')
      // Node's own words.
      .replace(/(the body is not JSON): [^"]*/, '$1: WHY')
      .replaceAll('\n', '\\n')
  );
}

const [, ...BLOCKS] = readFileSync(join(__dirname, 'calls.txt'), 'utf8').trim().split('\n\n');
const CASES = BLOCKS.map((block) => {
  const [setup = '', ...lines] = block.split('\n');
  const title = `${setup}: ${lines
    .filter((line) => line.startsWith('> '))
    .join(', ')
    .slice(0, 120)}`;
  return { title, setup: setup as Setup, lines };
});

it.each(CASES)('$title', async ({ setup, lines }) => {
  const { route, lines: logged } = serve(setup);
  const played: string[] = [];
  for (const line of lines.filter((each) => each.startsWith('> '))) {
    played.push(line, `< ${await call(route, line.slice(2))}`);
    for (const { message, fields } of logged.splice(0))
      played.push(`= ${message} ${JSON.stringify(fields)}`);
  }
  expect(played).toEqual(lines);
});
