import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '../support/edge/eventually';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';
import { ask, startService, stopServices, type Service } from '../support/edge/service';
import { writeTzif } from '../support/tzif';

const run = promisify(execFile);
const BIN = join(__dirname, '../../dist/src/bin');
const HOUR = 3_600;
const RULES = `domain: shop
descriptors:
  - key: user
    rate_limit: { unit: day, requests_per_unit: 1, calendar: true, time_zone: America/Vancouver }
  - key: plain
    rate_limit: { unit: day, requests_per_unit: 1 }
`;

let root: string;
let redis: RedisServer;
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'weir-time-zones-'));
  mkdirSync(join(root, 'config'));
  writeFileSync(join(root, 'config', 'shop.yaml'), RULES);
  redis = await startRedisServer();
});
afterEach(async () => {
  await stopServices();
  await redis.stop();
  rmSync(root, { recursive: true });
});

/** A folder of the system's zones in which the days of Vancouver begin at so many hours of UTC. */
function systemZones(release: string, hours: number): string {
  const folder = join(root, release);
  mkdirSync(join(folder, 'America'), { recursive: true });
  writeFileSync(join(folder, 'tzdata.zi'), `# version ${release}\n`);
  const footer = `<-0${String(hours)}>${String(hours)}`;
  writeFileSync(join(folder, 'America/Vancouver'), writeTzif({ footer }));
  return folder;
}

const start = (env: Readonly<Record<string, string>>): Promise<Service> =>
  startService({
    waitUntilUp: 'connected',
    env: {
      KVSTORE_SOCKET_TYPE: 'tcp',
      KVSTORE_URL: `127.0.0.1:${String(redis.port)}`,
      RUNTIME_ROOT: root,
      ...env,
    },
  });

const page = async (service: Service, path: string) =>
  (await fetch(`${service.debug}${path}`)).text();

/** Hours of UTC at which the counters of calendars began. */
async function begins(): Promise<readonly number[]> {
  const keys = await redis.client.keys('shop_user_*');
  const starts = keys.map((key) => Number(/_(\d+)~c4$/.exec(key)?.[1]));
  return [...new Set(starts.map((start) => (start % (24 * HOUR)) / HOUR))];
}

it.each(['1', '2'])('follows the newest data, and says so, with WORKERS=%s', async (WORKERS) => {
  const service = await start({ WORKERS, TZDIR: systemZones('9999a', 5) });
  for (let at = 0; at < 20; at += 1) await ask(service, 'shop', `user=${String(at)}`);
  expect(await begins()).toEqual([5]);
  expect(service.output()).toMatch(/timeZones="9999a of the system \(not 20.* of Weir, .*\)"/);
  const lines = (await page(service, '/rlconfig')).trim().split('\n');
  expect(lines[0]).toMatch(/America\/Vancouver, time_zone_data: 9999a of the system$/);
  expect(lines[1]).toBe(
    'shop.plain: unit=DAY requests_per_unit=1, shadow_mode: false, quota_mode: false',
  );
  const stats = await page(service, '/stats');
  expect(stats).toContain('weir.time_zone_data.release: 999901\n');
  expect(stats).toContain('weir.time_zone_data.source: 2\n');
  expect(stats).toContain('weir.time_zone_data.mismatch: 0\n');
  expect(await redis.client.get('weir:time_zones')).toMatch(/^9999a@\d+$/);
  const { timeZoneData, troubles } = await figuresOf(service);
  expect([timeZoneData, troubles]).toEqual(['9999a of the system', []]);
});

/** A zone that no Node knows, the days of which begin at 7:00. */
function withNewZone(folder: string): string {
  writeFileSync(join(folder, 'America/Newville'), writeTzif({ footer: '<-07>7' }));
  return folder;
}

/** Rules of a size that a thread parses. */
const MANY = '# more of them\n'.repeat(2_000);

it.each([
  ['1', ''],
  ['2', MANY],
])(
  'takes zones that Node does not know where newer data have them, with WORKERS=%s',
  async (WORKERS, more) => {
    const text = RULES.replace('Vancouver', 'Newville') + more;
    writeFileSync(join(root, 'config', 'shop.yaml'), text);
    const TZDIR = withNewZone(systemZones('9999a', 5));
    const service = await start({ WORKERS, TZDIR });
    for (let at = 0; at < 20; at += 1) await ask(service, 'shop', `user=${String(at)}`);
    expect(await begins()).toEqual([7]);
    expect(await page(service, '/rlconfig')).toMatch(
      /America\/Newville, time_zone_data: 9999a of the system$/m,
    );
    // A zone that nobody knows stays a mistake, beside one that the files have.
    const limit = 'unit: day, requests_per_unit: 1, calendar: true, time_zone: America/Oldtown';
    const rule = `  - key: old\n    rate_limit: { ${limit} }\n`;
    writeFileSync(join(root, 'config', 'shop.yaml'), text + rule);
    const line = String(text.split('\n').length + 1);
    await eventually(() => {
      expect(service.output()).toContain(
        `line=${line} column=79 error="time_zone \\"America/Oldtown\\" is not an IANA time zone`,
      );
    });
    expect(service.output()).not.toContain('time_zone \\"America/Newville');
  },
);

it('shows nothing of time zones where no rule has a calendar', async () => {
  writeFileSync(join(root, 'config', 'shop.yaml'), RULES.replace(/, calendar.*Vancouver/, ''));
  const service = await start({ WORKERS: '1' });
  expect(await page(service, '/rlconfig')).not.toContain('zone');
  expect(await page(service, '/stats')).not.toContain('time_zone');
  expect(await redis.client.keys('weir:time*')).toEqual([]);
});

it('names a file that cannot be used, in the log and on the page, and the next data serve', async () => {
  const folder = systemZones('9999a', 5);
  const file = join(folder, 'America/Vancouver');
  writeFileSync(file, 'no zone\n'.repeat(20));
  const service = await start({ WORKERS: '1', TZDIR: folder });
  await ask(service, 'shop', 'user=ann');
  expect(await begins()).not.toEqual([5]);
  const refused = `the time zone file ${file} cannot be used, older data serve in its place`;
  const reason = 'it is not a TZif file: expected it to begin with TZif';
  expect(service.output()).toContain(`level=error msg="${refused}" reason="${reason}"`);
  expect(await page(service, '/rlconfig')).not.toContain('9999a');
  expect((await figuresOf(service)).troubles).toMatchObject([
    { text: refused.replace('the', 'The'), details: [reason] },
  ]);
});

it.each([{ WORKERS: '1' }, { WORKERS: '2' }, { WORKERS: '2', ADMIN_API: 'off' }])(
  'says on both sides that instances on one store follow other data, and which to update: %o',
  async (env) => {
    const right = await start({ ...env, TZDIR: systemZones('9999b', 5) });
    await eventually(async () => {
      expect(await redis.client.get('weir:time_zones')).toMatch(/^9999b@\d+$/);
    });
    const old = await start({ ...env, TZDIR: systemZones('9999a', 6) });
    await eventually(async () => {
      expect(await page(old, '/stats')).toContain('weir.time_zone_data.mismatch: 1\n');
    });
    expect(await redis.client.get('weir:time_zones')).toMatch(/^9999b@\d+ 9999a@\d+$/);
    const [trouble] = (await figuresOf(old)).troubles;
    expect(trouble).toMatchObject({
      details: ['here 9999a of the system, elsewhere 9999b: update the instances with 9999a'],
    });
    expect(trouble?.text).toMatch(/^Instances on this store follow other time zone data/);
    // A reload looks at once; otherwise it does within a minute.
    writeFileSync(join(root, 'config', 'shop.yaml'), `${RULES}# again\n`);
    await eventually(async () => {
      expect(await page(right, '/stats')).toContain('weir.time_zone_data.mismatch: 1\n');
    });
  },
);

it.each(['Vancouver', 'Newville'])(
  'is what the checker and the simulator follow too: %s',
  async (zone) => {
    const folder = systemZones('9999a', 5);
    writeFileSync(join(folder, 'America/Newville'), writeTzif({ footer: '<-05>5' }));
    writeFileSync(join(root, 'config', 'shop.yaml'), RULES.replace('Vancouver', zone));
    const env = { PATH: process.env['PATH'], TZDIR: folder };
    const config = join(root, 'config');
    const asked = ['-explain', '-domain', 'shop', '-descriptors', 'user=ann'];
    const check = [join(BIN, 'ratelimit-config-check.js'), '-config_dir', config, ...asked];
    const { stdout } = await run(process.execPath, check, { env });
    expect(stdout).toContain('(fixed_window, time zones 9999a of the system, ');
    const line = (time: string) =>
      `${JSON.stringify({
        ...{ time, domain: 'shop', code: 'OK', hits: 1 },
        descriptors: [{ entries: [{ key: 'user', value: 'ann' }], hits: 1 }],
      })}\n`;
    const input = join(root, 'log.jsonl');
    // A day of this zone ends at 5:00.
    writeFileSync(
      input,
      ['04:58', '05:01', '23:00'].map((at) => line(`2026-11-27T${at}:00.000Z`)).join(''),
    );
    const decided = join(root, 'decided.jsonl');
    const words = ['-config_dir', config, '-input', input, '-decisions', decided];
    const simulated = await run(process.execPath, [join(BIN, 'ratelimit-simulate.js'), ...words], {
      env,
    });
    expect(simulated.stdout).toContain(
      'limited from 2026-11-27T23:00:00.000Z to 2026-11-27T23:00:00.000Z',
    );
  },
);

interface Figures {
  readonly troubles: readonly { readonly text: string; readonly details: readonly string[] }[];
  readonly timeZoneData?: string;
}

/** The first that the page is sent. */
async function figuresOf({ debug }: Service): Promise<Figures> {
  const abort = new AbortController();
  const response = await fetch(`${debug}/ui/events`, { signal: abort.signal });
  const reader = response.body?.getReader();
  let text = '';
  for (;;) {
    const found = /^event: figures\ndata: (.*)\n/m.exec(text)?.[1];
    if (found !== undefined) {
      abort.abort();
      return JSON.parse(found) as Figures;
    }
    text += Buffer.from((await reader?.read())?.value ?? []).toString();
  }
}
