import { failure } from '../../../../src/core/errors';
import type { DecisionRequest } from '../../../../src/core/model';
import {
  counterEndpoints,
  type CounterAdmin,
  type CounterChange,
} from '../../../../src/transport/debug/admin/counter-endpoints';
import { parseRequest } from '../../../../src/transport/http/json/parse-request';
import { UNBOUNDED } from '../../../support/bounds';
import { runSteps } from '../../../support/run-steps';

const ANN = { entries: [{ key: 'user', value: 'ann' }] };
const SHOWN = [{ entries: ['user=ann'], key: 'shop_user_ann_0', count: 3, expiresInSeconds: 9 }];

function serve(admin: Partial<CounterAdmin> = {}) {
  const changes: CounterChange[] = [];
  const requests: DecisionRequest[] = [];
  const endpoints = counterEndpoints(
    {
      read: (request) => {
        requests.push(request);
        return Promise.resolve(SHOWN);
      },
      open: () => Promise.reject(new Error('has an endpoint of its own')),
      change: (_request, change) => {
        changes.push(change);
        return Promise.resolve(SHOWN);
      },
      ...admin,
    },
    (text) => parseRequest(text, UNBOUNDED),
  );
  const call = async (name: string, body: unknown, text = JSON.stringify(body)) => {
    const endpoint = endpoints.find(({ path }) => path === `/api/v1/counters/${name}`);
    if (endpoint === undefined) throw new Error(`no endpoint ${name}`);
    const call = endpoint.handle({
      body,
      text,
      query: new URLSearchParams(),
      peer: '10.0.0.9',
      tokenId: '0a1b2c3d',
    });
    return runSteps(call);
  };
  return { call, changes, requests, endpoints };
}

it('offers one path that reads and two that write', () => {
  expect(serve().endpoints).toMatchObject([
    { path: '/api/v1/counters/read', method: 'POST', access: 'read' },
    { path: '/api/v1/counters/reset', method: 'POST', access: 'write' },
    { path: '/api/v1/counters/set', method: 'POST', access: 'write' },
  ]);
});

it('reads the request as /json does, and answers what it was shown', async () => {
  const { call, requests } = serve();
  expect(await call('read', { domain: 'shop', descriptors: [ANN] })).toEqual({
    status: 200,
    body: { counters: SHOWN },
  });
  expect(requests).toMatchObject([{ domain: 'shop', descriptors: [ANN] }]);
});

it('hands on what is to change, and who asks', async () => {
  const { call, changes } = serve();
  const who = { peer: '10.0.0.9', tokenId: '0a1b2c3d' };
  await call('reset', { domain: 'shop', descriptors: [ANN] });
  await call('reset', { domain: 'shop', descriptors: [ANN], open: true });
  const set = { used: 0, limit: 'hour', dryRun: true, force: true };
  await call('set', { domain: 'shop', descriptors: [ANN], ...set });
  expect(changes).toEqual([
    { used: undefined, open: false, limit: undefined, dryRun: false, force: false, ...who },
    { used: undefined, open: true, limit: undefined, dryRun: false, force: false, ...who },
    { used: 0, open: false, limit: 'hour', dryRun: true, force: true, ...who },
  ]);
});

const request = { domain: 'shop', descriptors: [ANN] };
it.each([
  ['read', { domain: 'shop', descriptors: [], color: 1 }, 'has no field'],
  ['read', [], 'expected an object'],
  ['read', { ...request, used: 1 }, 'has no field "used"'],
  [
    'read',
    { ...request, descriptors: new Array(21).fill(ANN) },
    '21 descriptors, expected at most 20',
  ],
  ['set', request, 'used is missing, expected a whole number'],
  ['set', { ...request, used: -1 }, 'used is -1, expected a whole number'],
  ['set', { ...request, used: 1.5 }, 'used is 1.5'],
  ['set', { ...request, used: '5' }, 'used is "5"'],
  ['reset', { ...request, dryRun: 'yes' }, 'dryRun is "yes", expected true or false'],
  ['reset', { ...request, open: 'yes' }, 'open is "yes", expected true or false'],
  ['reset', { ...request, limit: 'hour' }, 'has no field "limit"'],
  ['set', { ...request, used: 1, open: true }, 'has no field "open"'],
  ['set', { ...request, used: 1, limit: 5 }, 'limit is 5, expected the name of a limit'],
  ['reset', { ...request, force: 1 }, 'force is 1, expected true or false'],
  [
    'reset',
    { domain: 'shop', descriptors: [{ entries: [{ key: 'user' }] }] },
    'the entry "user" of shop has no value',
  ],
])('refuses %s of %j', async (name, body, error) => {
  const { call, changes } = serve();
  expect(await call(name, body)).toMatchObject({
    status: 400,
    body: { error: expect.stringContaining(error) as string },
  });
  expect(changes).toEqual([]);
});

it.each([
  ['"dryRun":true,"dryRun":false', 'dryRun'],
  ['"domain":"web"', 'domain'],
  ['"hitsAddend":1,"hits_addend":2', 'hitsAddend'],
  ['"hitsAddend":1,"hits\\u0041ddend":2', 'hitsAddend'],
  ['"x":[{"key":"user","value":"ann","key":"plan"}]', 'key'],
])('changes nothing where %s gives the field %s twice', async (fields, name) => {
  const { call, changes } = serve();
  const text = `{${JSON.stringify(request).slice(1, -1)},${fields}}`;
  for (const path of ['reset', 'set', 'read'])
    expect(await call(path, JSON.parse(text), text)).toMatchObject({
      status: 400,
      body: { code: 'malformed', error: `the body has the field "${name}" twice` },
    });
  expect(changes).toEqual([]);
});

it('takes equal names of different objects, and equal values', async () => {
  const { call, changes } = serve();
  const like = { entries: [{ key: 'key', value: '{"key":"' }] };
  await call('reset', { domain: 'domain', descriptors: [like, like] });
  expect(changes).toHaveLength(1);
});

it('takes an empty value that is written down', async () => {
  const { call, changes } = serve();
  await call('reset', { domain: 'shop', descriptors: [{ entries: [{ key: 'user', value: '' }] }] });
  expect(changes).toHaveLength(1);
});

it('answers 409 where other instances would not hear of a change, and failures as /json', async () => {
  const notPublished = serve({ change: () => Promise.resolve('not_published') });
  expect(await notPublished.call('reset', request)).toMatchObject({
    status: 409,
    body: { code: 'not_published' },
  });
  const noRules = serve({ read: () => Promise.resolve(failure('no_rules', 'none')) });
  expect(await noRules.call('read', request)).toMatchObject({ status: 503 });
});

it.each(['reset', 'set'])('answers 503 where a counter was not changed by %s', async (name) => {
  const refused = { ...SHOWN[0], entries: ['user=bob'], key: 'b', error: 'NOPERM' };
  const { call } = serve({ change: () => Promise.resolve([...SHOWN, refused]) });
  const body = { domain: 'shop', descriptors: [ANN, ANN], ...(name === 'set' && { used: 1 }) };
  expect(await call(name, body)).toEqual({
    status: 503,
    body: {
      error: '1 of 2 counters may be unchanged: see the error of each',
      code: 'store_unavailable',
      counters: [...SHOWN, refused],
    },
  });
  expect(await call(name, { ...body, dryRun: true })).toMatchObject({ status: 200 });
});
