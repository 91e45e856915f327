import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { STATUS_OF_ERROR } from '../../src/identity/contract/errors';
import { createReject } from '../../src/identity/service/create-identity-service';
import { StoreUnavailable } from '../../src/identity/store/store';
import { ANN, grant, grantApiKey, startIdentity } from '../support/identity';
import { problemsOf, type Schema } from '../support/json-schema';
import { send, type HttpAnswer } from '../support/raw-http';

interface DocumentedHeader {
  readonly $ref?: string;
  readonly required?: boolean;
  readonly schema?: Schema;
}

interface DocumentedResponse {
  readonly $ref?: string;
  readonly headers: Readonly<Record<string, DocumentedHeader>>;
  readonly content?: { readonly 'application/json': { readonly schema: Schema } };
}

interface Operation {
  readonly responses: Readonly<Record<string, DocumentedResponse>>;
}

interface OpenApi {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<Method, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly headers: Readonly<Record<string, DocumentedHeader>>;
    readonly responses: Readonly<Record<string, DocumentedResponse>>;
  };
}

type Method = 'get' | 'head' | 'options';

const file = join(__dirname, '../../docs/identity/identity.openapi.json');
const openapi = JSON.parse(readFileSync(file, 'utf8')) as OpenApi;
const operations = openapi.paths['/v1/userinfo'] as Readonly<Record<Method, Operation>>;
const { schemas, headers: sharedHeaders, responses: sharedResponses } = openapi.components;

/** Of HTTP itself. */
const OF_HTTP = new Set('connection content-length content-type date keep-alive'.split(' '));

const lastPart = (reference = ''): string => reference.replace(/^.*\//, '');

/** In both directions: what the document promises is there, and what is there is in the document. */
function problemsOfAnswer(
  { status, headers, body }: HttpAnswer,
  method: Method = 'get',
): readonly string[] {
  const found = operations[method].responses[String(status)];
  if (found === undefined) return [`the status ${String(status)} is not documented`];
  const documented = sharedResponses[lastPart(found.$ref)] ?? found;
  const known = Object.entries(documented.headers);
  const ofHeaders = known.flatMap(([name, header]) => {
    const { required = false, schema = {} } = sharedHeaders[lastPart(header.$ref)] ?? header;
    const value = headers[name.toLowerCase()];
    if (value === undefined && !required) return [];
    return problemsOf(value, schema, schemas, name);
  });
  const names = new Set([...OF_HTTP, ...known.map(([name]) => name.toLowerCase())]);
  const unknown = Object.keys(headers)
    .filter((name) => !names.has(name))
    .map((name) => `the header ${name} is not documented`);
  const schema = documented.content?.['application/json'].schema;
  if (method !== 'get' || schema === undefined)
    return [...ofHeaders, ...unknown, ...(body === '' ? [] : ['there is a body'])];
  return [...ofHeaders, ...unknown, ...problemsOf(JSON.parse(body), schema, schemas)];
}

/** What the listener answers by itself. */
const OF_LISTENER = [400, 405, 408, 431, 503] as const;

it('is OpenAPI 3.1 and names every status of the service', () => {
  expect(openapi.openapi).toBe('3.1.0');
  const statuses = [...new Set([200, ...OF_LISTENER, ...Object.values(STATUS_OF_ERROR)])].sort();
  expect(Object.keys(operations.get.responses).map(Number)).toEqual(statuses);
  expect(Object.keys(operations.head.responses).map(Number)).toEqual(statuses);
});

it.each(OF_LISTENER)('describes the %i of the listener as it is', (status) => {
  const { headers, body } = createReject(() => 'an-id')(status);
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  const answer = { status, headers: Object.fromEntries(lower) as HttpAnswer['headers'], body };
  expect(problemsOfAnswer(answer)).toEqual([]);
});

it('describes HEAD, OPTIONS, the full profile and CORS as they are', async () => {
  const identity = await startIdentity({ profile: 'full', corsOrigins: ['https://a.test'] });
  const { token } = await grant(identity.store, ANN, 60_000);
  const good: [string, string] = ['Authorization', `Bearer ${token}`];
  const origin: [string, string] = ['Origin', 'https://a.test'];
  const seen: (readonly [Method, number, readonly string[]])[] = [];
  for (const [method, headers] of [
    ['get', [good, origin]],
    ['get', [good]],
    ['head', [good, origin]],
    ['head', []],
    ['options', [origin]],
    ['options', []],
  ] as const) {
    const answer = await send(identity.url, headers, method.toUpperCase());
    seen.push([method, answer.status, problemsOfAnswer(answer, method)]);
  }
  identity.over.set('remote_address=127.0.0.1', {
    isOver: true,
    limit: undefined,
    resetSeconds: 9,
  });
  const over = await send(identity.url, [good]);
  const long = await send(identity.url, [['X-Long', 'x'.repeat(40_000)]]);
  await identity.stop();
  expect(seen.map(([method, status, problems]) => [method, status, ...problems])).toEqual([
    ['get', 200],
    ['get', 200],
    ['head', 200],
    ['head', 401],
    ['options', 204],
    ['options', 204],
  ]);
  expect([over.status, ...problemsOfAnswer(over)]).toEqual([429]);
  expect([long.status, ...problemsOfAnswer(long)]).toEqual([431]);
});

it('describes every answer as it is', async () => {
  const identity = await startIdentity();
  const { token } = await grant(identity.store, ANN, 60_000);
  const good: [string, string] = ['Authorization', `Bearer ${token}`];
  const answers: HttpAnswer[] = [
    await send(identity.url, [good]),
    await send(identity.url),
    await send(identity.url, [['Authorization', 'Bearer x']]),
    await send(identity.url, [good, good]),
    await send(`${identity.url}/`, [good]),
    await send(identity.url, [good], 'POST'),
  ];
  await grantApiKey(identity.store, 'shop');
  answers.push(await send(identity.url, [good]));
  identity.over.set('remote_address=127.0.0.1', { isOver: true, limit: 1, resetSeconds: 9 });
  answers.push(await send(identity.url, [good]));

  for (const error of [new StoreUnavailable('away'), new Error('fault')]) {
    const findToken = () => Promise.reject(error);
    const apiKeys = () => Promise.resolve([]);
    const broken = await startIdentity({}, {}, { ...identity.store, findToken, apiKeys });
    answers.push(await send(broken.url, [good]));
    await broken.stop();
  }
  await identity.stop();
  expect(answers.map((answer) => [answer.status, ...problemsOfAnswer(answer)])).toEqual(
    [200, 401, 401, 400, 404, 405, 401, 429, 503, 500].map((status) => [status]),
  );
});

it('would notice a field that is missing, of another type, or not documented', () => {
  const meta = { code: 200, message: 'Success' };
  const wrong = { meta, session: { remainingSeconds: '1' }, user: {}, extra: 1 };
  const headers = { 'x-powered-by': 'somebody' };
  const answer = { status: 200, headers, body: JSON.stringify(wrong) };
  const problems = problemsOfAnswer(answer);
  for (const problem of [
    'body.session.remainingSeconds is not of type integer',
    'body.user has no id',
    'body has a field extra that is not documented',
    'Cache-Control is undefined',
    'the header x-powered-by is not documented',
  ])
    expect(problems).toContain(problem);
});

describe('whatever is asked', () => {
  const text = fc.string({
    unit: fc.integer({ min: 33, max: 126 }).map((code) => String.fromCharCode(code)),
    maxLength: 90,
  });
  const good = fc.constant('good');
  const credential = fc.oneof(
    good,
    text,
    text.map((rest) => `idt_${rest}`),
    fc.constant('a.b.c'),
  );
  const scheme = fc.constantFrom('Bearer ', 'bearer  ', 'Basic ', 'Bearer', '');
  const query = fc.oneof(
    fc.constantFrom('', '?', '?a=1', '?access_token=', '?access_token=x&access_token=y', '?%'),
    text.map((rest) => `?${encodeURIComponent(rest)}`),
  );
  const pending = fc.record({
    method: fc.constantFrom('GET', 'GET', 'GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'TRACE', 'LINK'),
    path: fc.oneof({ weight: 5, arbitrary: fc.constant('/v1/userinfo') }, fc.webPath()),
    query,
    credentials: fc.array(fc.tuple(scheme, credential), { maxLength: 2 }),
    requestId: fc.option(text, { nil: undefined }),
    isLimited: fc.boolean(),
    isRare: fc.boolean(),
  });

  // All must be right for it: it is rare among what is made by chance.
  const right: typeof pending extends fc.Arbitrary<infer T> ? T : never = {
    method: 'GET',
    path: '/v1/userinfo',
    query: '',
    credentials: [['Bearer ', 'good']],
    requestId: undefined,
    isLimited: false,
    isRare: false,
  };

  it('is answered as the document says, and the same by HEAD', async () => {
    const identity = await startIdentity({}, { maxBlocked: 0 });
    const { token } = await grant(identity.store, ANN, 3_600_000);
    const base = `http://127.0.0.1:${String(identity.port)}`;
    const seen = new Set<number>();
    await fc.assert(
      fc.asyncProperty(
        pending,
        async ({ method, path, query: search, credentials, requestId, isLimited, isRare }) => {
          identity.over.clear();
          identity.clock.nowMs += 1_000;
          if (isLimited && isRare)
            identity.over.set('remote_address=127.0.0.1', {
              isOver: true,
              limit: 1,
              resetSeconds: 1,
            });
          const headers = credentials.map(
            ([kind, value]) =>
              ['Authorization', kind + (value === 'good' ? token : value)] as const,
          );
          const ids = requestId === undefined ? [] : [['X-Request-Id', requestId] as const];
          const asHead = method === 'HEAD';
          const answer = await send(
            `${base}${path}${search}`,
            [...headers, ...ids],
            asHead ? 'GET' : method,
          );
          seen.add(answer.status);
          expect(problemsOfAnswer(answer)).toEqual([]);
          if (!asHead || requestId === undefined) return;
          identity.clock.nowMs += 1_000;
          const head = await send(`${base}${path}${search}`, [...headers, ...ids], 'HEAD');
          const lengths = [answer, head].map(({ headers: all }) => all['content-length']);
          expect([head.status, head.body, lengths[1]]).toEqual([answer.status, '', lengths[0]]);
        },
      ),
      { numRuns: 300, examples: [[right]] },
    );
    await identity.stop();
    expect([...seen].toSorted((a, b) => a - b)).toEqual([200, 400, 401, 404, 405, 429]);
  });
});
