import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { STATUS_OF_ERROR } from '../../src/identity/contract/errors';
import { StoreUnavailable } from '../../src/identity/store/store';
import { ANN, grant, grantApiKey, startIdentity } from '../support/identity';
import { problemsOf, type Schema } from '../support/json-schema';
import { send, type HttpAnswer } from '../support/raw-http';

interface DocumentedResponse {
  readonly headers: Readonly<Record<string, { readonly $ref?: string; readonly schema?: Schema }>>;
  readonly content: { readonly 'application/json': { readonly schema: Schema } };
}

interface OpenApi {
  readonly openapi: string;
  readonly paths: Readonly<
    Record<
      string,
      { readonly get: { readonly responses: Readonly<Record<string, DocumentedResponse>> } }
    >
  >;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly headers: Readonly<Record<string, { readonly schema: Schema }>>;
  };
}

const file = join(__dirname, '../../docs/identity.openapi.json');
const openapi = JSON.parse(readFileSync(file, 'utf8')) as OpenApi;
const responses = openapi.paths['/v1/userinfo']?.get.responses ?? {};
const { schemas, headers: sharedHeaders } = openapi.components;

function problemsOfAnswer({ status, headers, body }: HttpAnswer): readonly string[] {
  const documented = responses[String(status)];
  if (documented === undefined) return [`the status ${String(status)} is not documented`];
  const ofHeaders = Object.entries(documented.headers).flatMap(([name, { $ref, schema }]) => {
    const shared = sharedHeaders[($ref ?? '').replace('#/components/headers/', '')]?.schema;
    return problemsOf(headers[name.toLowerCase()], schema ?? shared ?? {}, schemas, name);
  });
  const { schema } = documented.content['application/json'];
  return [...ofHeaders, ...problemsOf(JSON.parse(body), schema, schemas)];
}

it('is OpenAPI 3.1 and names every status of the service', () => {
  expect(openapi.openapi).toBe('3.1.0');
  const statuses = new Set([200, ...Object.values(STATUS_OF_ERROR)]);
  expect(Object.keys(responses).map(Number).toSorted()).toEqual([...statuses].toSorted());
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
  const answer = { status: 200, headers: {}, body: JSON.stringify(wrong) };
  const problems = problemsOfAnswer(answer);
  for (const problem of [
    'body.session.remainingSeconds is not of type integer',
    'body.user has no id',
    'body has a field extra that is not documented',
    'Cache-Control is undefined',
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
