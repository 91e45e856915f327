import { gzipSync } from 'node:zlib';
import { Client, credentials, status, type ServiceError } from '@grpc/grpc-js';
import type { ServiceDefinition } from '@grpc/proto-loader';
import { RATE_LIMIT_PROTO, loadProtos } from '../../src/platform/proto-files';
import { ask, startService, stopServices, type Service } from '../support/edge/service';

const METHOD = (
  loadProtos([RATE_LIMIT_PROTO])['envoy.service.ratelimit.v3.RateLimitService'] as ServiceDefinition
)['ShouldRateLimit'] as ServiceDefinition[string];

let service: Service;
let client: Client;
beforeAll(async () => {
  service = await startService({ env: { LIMIT_RESPONSE_HEADERS_ENABLED: 'true' } });
  client = new Client(service.grpc, credentials.createInsecure());
}, 30_000);
afterAll(async () => {
  client.close();
  await stopServices();
});
afterEach(async () => {
  // Whatever came: the service lives and decides.
  expect((await ask(service, 'example', `remote_address=${String(Math.random())}`)).status).toBe(
    200,
  );
});

function callRaw(bytes: Buffer): Promise<object> {
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest<Buffer, object>(
      METHOD.path,
      (raw) => raw,
      METHOD.responseDeserialize,
      bytes,
      (error: ServiceError | null, response) => {
        if (error === null) resolve(response ?? {});
        else reject(error);
      },
    );
  });
}

const call = (message: object) => callRaw(METHOD.requestSerialize(message));
const failure = async (answer: Promise<object>): Promise<ServiceError> =>
  answer.then(
    () => {
      throw new Error('the call succeeded');
    },
    (error: unknown) => error as ServiceError,
  );

const entry = (key: string, value: string) => ({ entries: [{ key, value }] });

describe('over gRPC', () => {
  it.each([
    ['an empty domain', { domain: '', descriptors: [entry('k', 'v')] }, 'domain must not be empty'],
    ['no descriptors', { domain: 'example', descriptors: [] }, 'descriptor list must not be empty'],
    [
      'a limit with a unit that is none',
      {
        domain: 'example',
        descriptors: [{ ...entry('k', 'v'), limit: { requestsPerUnit: 1, unit: 9 } }],
      },
      'unit 9',
    ],
    [
      'an addend that no store can count',
      {
        domain: 'example',
        descriptors: [{ ...entry('k', 'v'), hitsAddend: { value: '9223372036854775808' } }],
      },
      '9223372036854775808',
    ],
  ])('%s is INVALID_ARGUMENT', async (_, message, words) => {
    const error = await failure(call(message));
    expect(error.code).toBe(status.INVALID_ARGUMENT);
    expect(error.details).toContain(words);
  });

  it('bytes that are no message are INVALID_ARGUMENT, with a message', async () => {
    for (const bytes of [Buffer.from([0xff, 0xff]), Buffer.from([0x0a, 0x02, 0xff, 0xfe])]) {
      const error = await failure(callRaw(bytes));
      expect([status.INVALID_ARGUMENT, status.INTERNAL]).toContain(error.code);
      expect(error.details).not.toBe('');
    }
  });

  it('a message over 4 MiB is RESOURCE_EXHAUSTED', async () => {
    const error = await failure(
      call({ domain: 'example', descriptors: [entry('k', 'v'.repeat(4_300_000))] }),
    );
    expect(error.code).toBe(status.RESOURCE_EXHAUSTED);
  });

  it('256 descriptors are decided, one more is INVALID_ARGUMENT', async () => {
    const descriptors = Array.from({ length: 256 }, (_, i) =>
      entry('remote_address', `many-${String(i)}`),
    );
    const answer = (await call({ domain: 'example', descriptors })) as { statuses: unknown[] };
    expect(answer.statuses).toHaveLength(256);
    const more = [...descriptors, entry('remote_address', 'more')];
    const error = await failure(call({ domain: 'example', descriptors: more }));
    expect(error.code).toBe(status.INVALID_ARGUMENT);
    expect(error.details).toBe('the request has more descriptors than MAX_DESCRIPTORS (256)');
  });

  it('a domain of 500 kB with many descriptors does not hold up the next request', async () => {
    const domain = '1.1.1.1 '.repeat(65_000);
    const error = await failure(call({ domain, descriptors: Array(10_000).fill({}) }));
    expect(error.code).toBe(status.INVALID_ARGUMENT);
    expect(error.details).toBe('the domain has 520000 bytes, more than MAX_NAME_BYTES (1024)');
  });

  it.each(['a_b', 'a:b|c', 'a\nb', 'a\0b', '😀', 'x'.repeat(65_536)])(
    'the value %# is counted as any other',
    async (value) => {
      const twice = [entry('remote_address', value), entry('remote_address', value)];
      // In one request, as a minute may end between two.
      const { statuses } = (await call({ domain: 'example', descriptors: twice })) as {
        statuses: { limitRemaining: number }[];
      };
      expect(statuses.map(({ limitRemaining }) => limitRemaining)).toEqual([99, 98]);
    },
  );
});

describe('on /json', () => {
  const post = (body: string | Buffer, headers: Record<string, string> = {}) =>
    fetch(`${service.http}/json`, { method: 'POST', body, headers });
  const request = (more: string) =>
    `{"domain":"example","descriptors":[{"entries":[{"key":"api_key","value":"k"}]${more}}]}`;

  it.each([
    ['no JSON', '{"domain":'],
    ['nothing', ''],
    ['a list', '[]'],
    ['an unknown field', '{"domain":"example","descriptorz":[]}'],
    ['hits of -1', request(',"hitsAddend":-1')],
    ['hits of 1.5', request(',"hitsAddend":1.5')],
    ['hits of abc', request(',"hitsAddend":"abc"')],
    ['hits of the request of 2^32', '{"domain":"example","hitsAddend":4294967296}'],
    ['an unknown unit', request(',"limit":{"requestsPerUnit":1,"unit":"FORTNIGHT"}')],
    ['no descriptors', '{"domain":"example"}'],
  ])('%s is 400 with a body that says what was expected', async (_, body) => {
    const response = await post(body);
    expect(response.status).toBe(400);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    const { error } = (await response.json()) as { error: string };
    expect(error.length).toBeGreaterThan(10);
  });

  it('more than 1 MiB is 413', async () => {
    const response = await post(request(`,"x":"${'y'.repeat(1_100_000)}"`));
    expect(response.status).toBe(413);
  });

  it('another method is 405 and names the right one', async () => {
    const response = await fetch(`${service.http}/json`);
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST');
  });

  it('a body that is not what content-encoding says is 400, an unknown encoding 415', async () => {
    expect((await post('plain', { 'content-encoding': 'gzip' })).status).toBe(400);
    expect((await post('plain', { 'content-encoding': 'snappy' })).status).toBe(415);
    expect((await post(gzipSync(request('')), { 'content-encoding': 'gzip' })).status).toBe(200);
  });
});

it('counts every senseless request as an error of the service', async () => {
  const read = async () => {
    const response = await fetch(`${service.debug}/stats?format=json`);
    const { counters } = (await response.json()) as { counters: Record<string, number> };
    return counters['ratelimit.service.call.should_rate_limit.service_error'] ?? 0;
  };
  const before = await read();
  await failure(call({ domain: '', descriptors: [] }));
  expect(await read()).toBe(before + 1);
});
