import { readFileSync } from 'node:fs';
import { join } from 'node:path';
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
    'body.session.remainingSeconds is no integer',
    'body.user has no id',
    'body has a field extra that is not documented',
    'Cache-Control is undefined',
  ])
    expect(problems).toContain(problem);
});
