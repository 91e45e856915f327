import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as scripts from '../../../../src/counters/redis/lua/scripts';
import { describeWithStores, nearRedis, type NearRedis } from '../../../support/near-stores';

const FOLDER = join(__dirname, '../../../../src/counters/redis/lua');
const { SCRIPTS, OPERATIONS_SCRIPT, BUDGETS_SCRIPT, CLUSTER_SCRIPTS, ...operators } = scripts;
const SOURCES = [
  ...[SCRIPTS.add, SCRIPTS.holdBack, OPERATIONS_SCRIPT, BUDGETS_SCRIPT].map(({ source }) => source),
  ...Object.values(operators),
];
const FILES = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.lua'))
  .map((name) => ({ name, text: readFileSync(join(FOLDER, name), 'utf8') }));

it.each(FILES)('uses $name in a script, as it is', ({ text }) => {
  expect(SOURCES.some((source) => source.includes(text))).toBe(true);
});

it('sends a cluster the same scripts', () => {
  expect(CLUSTER_SCRIPTS).toEqual({ ...SCRIPTS, isDeclaringKeys: false });
});

describeWithStores('Redis', () => {
  let redis: NearRedis;
  beforeAll(async () => {
    redis = await nearRedis(1_795_240_200);
  });
  afterAll(() => redis.client.quit());

  it('compiles each script', async () => {
    for (const source of SOURCES)
      expect(await redis.client.script('LOAD', source)).toMatch(/^[0-9a-f]{40}$/);
  });

  it.each(FILES)('compiles $name by itself, as editors do', async ({ text }) => {
    await redis.client.script('LOAD', text);
  });
});
