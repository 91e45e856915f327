import { firstValueFrom } from 'rxjs';
import {
  APIError,
  AuthenticationError,
  IdentityClient,
  IdentityError,
  type Fetch,
  type IdentityClientOptions,
} from '../../../src/identity/client';

const TOKEN = 'idt_secret-of-somebody';
const GOOD = {
  meta: { code: 200, message: 'Success' },
  session: { remainingSeconds: 60 },
  user: {
    id: 'ann',
    externalId: '',
    userName: '',
    displayName: '',
    emails: [{ value: 'a@x.test', type: null }],
    photos: [{ value: 'https://x.test/a.png', type: 'photo' }],
    names: { familyName: '', givenName: '' },
    verifications: [{ id: '1', email: 'a@x.test', verified: true, createdAt: '', updatedAt: '' }],
    provider: '',
    environmentId: '',
  },
};

type Call = Parameters<Fetch>;

/** A platform that answers what it is told. */
function answering(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}) {
  const calls: Call[] = [];
  const fetch: Fetch = (...call) => {
    calls.push(call);
    return Promise.resolve({
      status,
      headers: { get: (name) => headers[name] ?? null },
      text: () => Promise.resolve(typeof body === 'string' ? body : JSON.stringify(body)),
    });
  };
  return { fetch, calls };
}

/** A platform that never answers, but listens to the signal. */
const hanging: Fetch = (_url, { signal }) =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => {
      reject(new Error('aborted'));
    });
  });

const clientWith = (fetch: Fetch, more: Partial<IdentityClientOptions> = {}) =>
  new IdentityClient({ baseUrl: 'https://id.test', fetch, ...more });

const failureOf = async (promise: Promise<unknown>): Promise<IdentityError> => {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(IdentityError);
  const { message, stack, cause } = error as IdentityError;
  expect(message + String(stack) + String(cause)).not.toContain(TOKEN);
  return error as IdentityError;
};

it('answers the whole response', async () => {
  const { fetch, calls } = answering(200, GOOD);
  const client = clientWith(fetch, { baseUrl: 'https://id.test/base/', apiKey: 'idk_x' });
  expect(await client.getUserInfo(TOKEN)).toEqual(GOOD);
  const [[url, init] = []] = calls;
  expect(url).toBe('https://id.test/base/v1/userinfo');
  expect(init).toMatchObject({
    method: 'GET',
    redirect: 'manual',
    headers: { Authorization: `Bearer ${TOKEN}`, 'X-API-Key': 'idk_x' },
  });
});

it('raises an AuthenticationError for 401, with what the service said', async () => {
  const body = { error: 'invalid_token', errorDescription: 'no', requestId: 'r1' };
  const error = await failureOf(clientWith(answering(401, body).fetch).getUserInfo(TOKEN));
  expect(error).toBeInstanceOf(AuthenticationError);
  expect(error).toMatchObject({ ...body, status: 401, name: 'AuthenticationError' });
});

it.each([204, 400, 403, 404, 429, 500, 503])('raises an APIError for %i', async (status) => {
  const { fetch } = answering(status, 'no JSON', { 'retry-after': '7', 'x-request-id': 'r2' });
  const error = await failureOf(clientWith(fetch).getUserInfo(TOKEN));
  expect(error).toBeInstanceOf(APIError);
  expect(error).toMatchObject({ code: 'status', status, retryAfterSeconds: 7, requestId: 'r2' });
});

it.each([301, 302, 307, 308])('follows no redirect: %i', async (status) => {
  const error = await failureOf(clientWith(answering(status, '').fetch).getUserInfo(TOKEN));
  expect(error).toMatchObject({ name: 'APIError', code: 'redirect', status });
});

it('knows the redirect of a browser', async () => {
  const headers = { get: () => null };
  const opaque = { status: 0, type: 'opaqueredirect', headers, text: () => Promise.resolve('') };
  const error = await failureOf(clientWith(() => Promise.resolve(opaque)).getUserInfo(TOKEN));
  expect(error).toMatchObject({ code: 'redirect' });
});

it.each<[string, unknown]>([
  ['it is not valid JSON', '<html>'],
  ['it is not valid JSON', ''],
  ['is not an object', 'null'],
  ['meta is not an object', { ...GOOD, meta: undefined }],
  ['meta.code is 500', { ...GOOD, meta: { code: 500, message: 'x' } }],
  ['session.remainingSeconds', { ...GOOD, session: { remainingSeconds: '60' } }],
  ['user.id is not a string', { ...GOOD, user: { ...GOOD.user, id: 7 } }],
  ['user.emails is not a list', { ...GOOD, user: { ...GOOD.user, emails: null } }],
  ['user.emails[0].value', { ...GOOD, user: { ...GOOD.user, emails: [{ type: null }] } }],
  ['user.photos[0].type', { ...GOOD, user: { ...GOOD.user, photos: [{ value: '', type: null }] } }],
  [
    'user.verifications[0].verified',
    {
      ...GOOD,
      user: { ...GOOD.user, verifications: [{ ...GOOD.user.verifications[0], verified: 1 }] },
    },
  ],
])('raises an APIError for a body of which %s', async (problem, body) => {
  const error = await failureOf(clientWith(answering(200, body).fetch).getUserInfo(TOKEN));
  expect(error).toMatchObject({ name: 'APIError', code: 'bad_body', status: 200 });
  expect(error.message).toContain(problem);
});

it('raises an APIError when the network fails, with the reason and without the token', async () => {
  const cause = new Error(`connect ECONNREFUSED for ${TOKEN}`);
  const fetch: Fetch = () => Promise.reject(new TypeError('fetch failed', { cause }));
  const error = await failureOf(clientWith(fetch).getUserInfo(TOKEN));
  expect(error).toMatchObject({ name: 'APIError', code: 'network' });
  expect(error.message).toContain('fetch failed: connect ECONNREFUSED');
});

it('raises an APIError when the time is over, also while the body comes', async () => {
  const slow = await failureOf(clientWith(hanging, { timeoutMs: 5 }).getUserInfo(TOKEN));
  expect(slow).toMatchObject({ name: 'APIError', code: 'timeout' });
  const body: Fetch = (url, init) =>
    Promise.resolve({
      status: 200,
      headers: { get: () => null },
      text: () => hanging(url, init).then(() => ''),
    });
  const cut = await failureOf(clientWith(body, { timeoutMs: 5 }).getUserInfo(TOKEN));
  expect(cut).toMatchObject({ code: 'timeout' });
});

it('ends with the signal of the caller', async () => {
  const controller = new AbortController();
  const failure = failureOf(clientWith(hanging).getUserInfo(TOKEN, { signal: controller.signal }));
  controller.abort('enough');
  expect(await failure).toMatchObject({ name: 'APIError', code: 'aborted', cause: 'enough' });
  const { fetch, calls } = answering(200, GOOD);
  const late = clientWith(fetch).getUserInfo(TOKEN, { signal: controller.signal });
  expect(await failureOf(late)).toMatchObject({ code: 'aborted' });
  expect(calls).toHaveLength(0);
});

it.each(['', 'a b', 'a\r\nX: y', 'a\0', 'ä'])('sends no token that is %j', async (token) => {
  const { fetch, calls } = answering(200, GOOD);
  const error = await clientWith(fetch)
    .getUserInfo(token)
    .catch((reason: unknown) => reason);
  expect(error).toMatchObject({ name: 'APIError', code: 'bad_credential' });
  expect(calls).toHaveLength(0);
});

it.each<Partial<IdentityClientOptions>>([
  { baseUrl: '' },
  { baseUrl: 'id.test' },
  { baseUrl: 'ftp://id.test' },
  { baseUrl: 'https://user:password@id.test' },
  { baseUrl: 'https://id.test/?a=b' },
  { timeoutMs: 0 },
  { timeoutMs: Number.NaN },
])('refuses options that cannot work: %j', (options) => {
  expect(() => clientWith(hanging, options)).toThrow(TypeError);
});

describe('as a stream', () => {
  it('calls once for each subscription, and not before', async () => {
    const { fetch, calls } = answering(200, GOOD);
    const info$ = clientWith(fetch).getUserInfo$(TOKEN);
    expect(calls).toHaveLength(0);
    expect(await firstValueFrom(info$)).toEqual(GOOD);
    await firstValueFrom(info$);
    expect(calls).toHaveLength(2);
  });

  it('fails as the promise does', async () => {
    const info$ = clientWith(answering(401, '').fetch).getUserInfo$(TOKEN);
    await expect(firstValueFrom(info$)).rejects.toBeInstanceOf(AuthenticationError);
  });

  it('ends the call when nobody listens any more', () => {
    const signals: AbortSignal[] = [];
    const fetch: Fetch = (url, init) => {
      signals.push(init.signal);
      return hanging(url, init);
    };
    clientWith(fetch).getUserInfo$(TOKEN).subscribe().unsubscribe();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });
});
