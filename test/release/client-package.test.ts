import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { unpackPackage, type PackedPackage } from '../support/edge/packed-package';
import { createTemporaryDirectory } from '../support/rule-directory';
import { startService, stopServices } from '../support/edge/service';

const ROOT = join(__dirname, '../..');
/** The rules of the example, with a window that ends during no test. */
const rules = createTemporaryDirectory();
const YEARLY = { RUNTIME_ROOT: rules.path, LIMIT_POLICY_HEADERS: 'all', LIMIT_RETRY_AFTER: 'on' };

let packed: PackedPackage;
beforeAll(async () => {
  const example = readFileSync(join(ROOT, 'examples/code/config/shop.yaml'), 'utf8');
  rules.write('config/shop.yaml', example.replace('unit: minute', 'unit: year'));
  packed = await unpackPackage();
  await packed.link('@grpc');
}, 180_000);
afterAll(async () => {
  rules.remove();
  await packed.remove();
});
afterEach(stopServices);

const BODY = `
const limiter = createRateLimiter({ target: process.env.TARGET, domain: 'shop', timeoutMs: 20_000 });
const ann = [[['user', process.env.USER_NAME]]];
const told = [];
for (let asked = 0; asked < 6; asked++) told.push((await limiter.check(ann)).remaining);
const { allowed, headers } = await limiter.check(ann, { signal: AbortSignal.timeout(20_000) });
told.push(allowed, Object.keys(headers));
const limited = rateLimitFetch(limiter, () => ann);
told.push((await limited(new Request('http://shop.test/')))?.status, (await limiter.quota(ann)).limits);
told.push(typeof rateLimit(limiter, () => ann), (await limiter.check([[['free', 'x']]])).limits);
await limiter.close();
told.push((await limiter.check(ann)).error instanceof RateLimiterError);
console.log(JSON.stringify(told));
`;
const NAMES = '{ createRateLimiter, rateLimit, rateLimitFetch, RateLimiterError }';
const KINDS = [
  ['CommonJS', 'app.cjs', `const ${NAMES} = require('weir/client');\n(async () => {${BODY}})();`],
  ['an ES module', 'app.mjs', `import ${NAMES} from 'weir/client';\n${BODY}`],
] as const;

it.each(KINDS)('the package asks the service in %s', async (_, file, text) => {
  const { grpc } = await startService({ env: YEARLY });
  const told = await packed.play(file, text, { env: { TARGET: grpc, USER_NAME: file } });
  const limit = { name: 'per-user', limit: 5, unit: 'year', unitMultiplier: 1 };
  const seconds = expect.any(Number) as number;
  expect(JSON.parse(told)).toEqual([
    ...[4, 3, 2, 1, 0, 0],
    ...[false, ['RateLimit-Policy', 'RateLimit', 'Retry-After']],
    ...[429, [{ ...limit, remaining: 0, resetSeconds: seconds, limited: true }]],
    ...['function', [null], true],
  ]);
});

it('is one library for both kinds of modules, and keeps no process alive', async () => {
  const told = await packed.play(
    'both.mjs',
    `import { createRequire } from 'node:module';
     import * as module from 'weir/client';
     const required = createRequire(import.meta.url)('weir/client');
     const target = process.env.TARGET;
     const limiter = module.createRateLimiter({ target, domain: 'shop', timeoutMs: 20_000 });
     const { error } = await limiter.check([[['user', 'forgets to close']]]);
     console.log(error, Object.keys(module).every((name) => module[name] === required[name]));`,
    { env: { TARGET: (await startService({ env: YEARLY })).grpc } },
  );
  expect(told).toBe('undefined true\n');
});

const RESERVING = `
const limiter = createRateLimiter({ target: process.env.TARGET, domain: 'model', timeoutMs: 20_000 });
const ann = [['user', 'ann']];
const told = [];
const left = async () => (await limiter.quota([ann])).remaining;
told.push((await limiter.reserve(ann, 'one', 600)).allowed, await left());
told.push((await limiter.reserve(ann, 'two', 600)).allowed, await left());
told.push((await limiter.settle(ann, 'one', 250)).settled, await left());
told.push((await limiter.reserve(ann, 'two', 600)).allowed, (await limiter.settle(ann, 'two', 0)).settled, await left());
await limiter.close();
console.log(JSON.stringify(told));
`;

it('holds what a call may cost until it is settled', async () => {
  const yearly = '{ unit: year, requests_per_unit: 1000 }';
  const text = `domain: model\ndescriptors:\n  - { key: user, rate_limit: ${yearly}, reserve: {} }\n`;
  rules.write('config/model.yaml', text);
  const { grpc } = await startService({ env: YEARLY });
  const program = `import ${NAMES} from 'weir/client';\n${RESERVING}`;
  const told = await packed.play('model.mjs', program, { env: { TARGET: grpc } });
  expect(JSON.parse(told)).toEqual([true, 400, false, 400, true, 750, true, true, 750]);
});

const TYPED = `
import { createRateLimiter, rateLimit, rateLimitFetch, RateLimiterError, type RateLimitDecision, type RateLimiterErrorCode } from 'weir/client';
import express = require('express');
const limiter = createRateLimiter({ target: 'localhost:8081', domain: 'shop', timeoutMs: 50, onError: 'allow', tls: { ca: 'pem' } });
export const decide = (error: RateLimiterError): RateLimiterErrorCode => error.code;
createRateLimiter({ target: 'localhost:8081', domain: 'shop', onError: ({ code }) => (code === 'invalid_request' ? 'deny' : 'allow') });
const { allowed, limit, remaining, resetSeconds, headers } = await limiter.check([[['user', 'ann']]], { hits: 1, signal: AbortSignal.timeout(1) });
export const figures: [boolean, number | undefined, number | undefined, number | undefined, string | undefined] = [allowed, limit, remaining, resetSeconds, headers['Retry-After']];
export const held: RateLimitDecision = await limiter.reserve([['user', 'ann']], 'id', 500);
export const { settled, error }: { settled: boolean; error: Error | undefined } = await limiter.settle([['user', 'ann']], 'id', 12);
export const left: string | undefined = (await limiter.quota([[['user', 'ann']]])).limits[0]?.unit;
const app = express();
app.use(rateLimit(limiter, (request) => [[['user', request.get('x-user') ?? '']]]));
app.get('/free', rateLimit(limiter, (request) => [[['url', request.url ?? '']]]));
app.get('/paid/:plan', rateLimit<express.Request<{ plan: string }>>(limiter, async ({ params }) => [[['plan', params.plan]]], { status: 403 }));
export const response: Response | undefined = await rateLimitFetch(limiter, ({ url }) => [[['url', url]]])(new Request('http://shop.test/'));
export const { inFlight, decided, refused, failed, unsettled } = limiter.stats();
await limiter.close();
// @ts-expect-error -- a descriptor is a list of pairs
void limiter.check([['user', 'ann']]);
// @ts-expect-error -- nothing else
createRateLimiter({ target: 'localhost:8081', domain: 'shop', onError: 'throw' });
`;
/** CommonJS awaits in functions alone. */
const IN_FUNCTION = TYPED.replaceAll(/^export (?=const)/gm, '').replace(
  'const limiter',
  'export async function all() {\nconst limiter',
);

it('has types for both kinds of modules, and needs none of a library', async () => {
  for (const name of ['express', '@types']) await packed.link(name);
  const files = { 'typed.mts': TYPED, 'typed.cts': `${IN_FUNCTION}}` };
  expect(await packed.check(files)).toBe('');
  for (const name of ['express', '@types', '@grpc']) await packed.unlink(name);
  const few = TYPED.split('\n').filter((line) => !/express|app\./.test(line));
  expect(await packed.check({ 'typed.mts': few.join('\n') })).toBe('');
  await packed.link('@grpc');
}, 180_000);
