import { createTestClient } from '../support/edge/grpc-client';
import { createTemporaryDirectory, type TemporaryDirectory } from '../support/rule-directory';
import { startService, stopServices, type Service } from '../support/edge/service';

const RULES = `
domain: shop
descriptors:
  - key: user
    rate_limit: { unit: year, requests_per_unit: 1 }
`;

let rules: TemporaryDirectory;
beforeAll(() => {
  rules = createTemporaryDirectory();
  rules.write('config/rules.yaml', RULES);
});
afterEach(async () => {
  await stopServices();
});
afterAll(() => {
  rules.remove();
});

const start = (env: Readonly<Record<string, string>>) =>
  startService({ env: { RUNTIME_ROOT: rules.path, ...env } });

const QUESTION = {
  domain: 'shop',
  descriptors: [{ entries: [{ key: 'user', value: 'ann' }] }],
};

const post = ({ http }: Service) =>
  fetch(`${http}/json`, { method: 'POST', body: JSON.stringify(QUESTION) });

interface Body {
  readonly responseHeadersToAdd?: readonly { readonly key: string; readonly value: string }[];
  readonly rawBody?: string;
}

it('a caller of /json gets Retry-After as a header of its own 429, and the list in the body', async () => {
  const service = await start({ LIMIT_POLICY_HEADERS: 'all', LIMIT_RETRY_AFTER: 'on' });
  const ok = await post(service);
  expect([ok.status, ok.headers.get('retry-after')]).toEqual([200, null]);
  const over = await post(service);
  const { responseHeadersToAdd } = (await over.json()) as Body;
  const said = responseHeadersToAdd?.map(({ key }) => key);
  expect(said).toEqual(['RateLimit-Policy', 'RateLimit', 'Retry-After']);
  expect(over.status).toBe(429);
  expect(over.headers.get('retry-after')).toBe(responseHeadersToAdd?.at(-1)?.value);
});

it('a deployment that calls one of the first three headers so gets none on /json', async () => {
  const env = { LIMIT_RESPONSE_HEADERS_ENABLED: 'true', LIMIT_RESET_HEADER: 'Retry-After' };
  const service = await start(env);
  await post(service);
  const over = await post(service);
  expect([over.status, over.headers.get('retry-after')]).toEqual([429, null]);
});

it('a problem is the same over gRPC and /json', async () => {
  const service = await start({ LIMIT_BODY: 'problem' });
  await post(service);
  const { rawBody = '' } = (await (await post(service)).json()) as Body;
  const client = createTestClient(service.grpc);
  const { response } = await client.ask(QUESTION);
  client.close();
  expect(response).toMatchObject({ rawBody });
  expect(JSON.parse(Buffer.from(rawBody, 'base64').toString())).toEqual({
    type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
    title: 'A rate limit is exceeded',
    'violated-policies': ['1-per-year'],
  });
});

it('the start ends where one header would be sent twice', async () => {
  const service = await startService({
    waitUntilUp: false,
    env: { LIMIT_NEAR_HEADER: 'ratelimit', LIMIT_POLICY_HEADERS: 'all' },
  });
  const [code] = await new Promise<[number | null]>((resolve) => {
    service.child.once('close', (...args: [number | null]) => {
      resolve(args);
    });
  });
  expect(code).toBe(1);
  expect(service.output()).toContain(
    'LIMIT_NEAR_HEADER="ratelimit" and LIMIT_POLICY_HEADERS="all": both send the header ratelimit',
  );
});
