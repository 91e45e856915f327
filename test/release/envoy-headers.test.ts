import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { startEnvoy, stopEnvoys, type WholeAnswer } from '../support/edge/envoy';
import { toEnvoyConfig, type EnvoyOptions } from '../support/envoy-config';
import { PROGRAMS } from '../support/edge/programs';
import { createTemporaryDirectory, type TemporaryDirectory } from '../support/rule-directory';
import { startService, stopServices } from '../support/edge/service';

const RULES = `
domain: edge
descriptors:
  - key: user
    rate_limit: { unit: year, requests_per_unit: 1 }
  - key: user
    value: gcra
    rate_limit: { unit: year, requests_per_unit: 1, algorithm: gcra }
  - key: user
    value: sliding_window
    rate_limit: { unit: year, requests_per_unit: 1, algorithm: sliding_window }
`;
/** One for each algorithm; any other user has a fixed window. */
const USERS = ['ann', 'gcra', 'sliding_window'] as const;
type User = (typeof USERS)[number];

const NOT_ENFORCED = {
  filter_enforced: { default_value: { numerator: 0, denominator: 'HUNDRED' } },
};

/** What docs/endpoints.md says to add to the filter. */
function readTypeFilter(): object {
  const page = readFileSync(join(__dirname, '../../docs/endpoints.md'), 'utf8');
  const [block = ''] = /^response_headers_to_add:[^]*?(?=^```)/m.exec(page) ?? [];
  return parse(block) as object;
}

const program = PROGRAMS.envoy();
const whereEnvoyIs = program === undefined ? describe.skip : describe;

interface Case {
  readonly ownHeaders: boolean;
  readonly ownRetryAfter: boolean;
  readonly three: boolean;
  readonly policies: boolean;
  readonly retryAfter: boolean;
}

const BOTH = [false, true] as const;

/** Whether this Envoy can send a Retry-After of its own: an older one refuses a filter with that setting. */
function knowsRetryAfter(envoy: string): boolean {
  const directory = createTemporaryDirectory();
  const file = join(directory.path, 'envoy.json');
  const config = toEnvoyConfig({ service: '127.0.0.1:1', ownRetryAfter: true }, 1, 2);
  writeFileSync(file, JSON.stringify(config));
  const { status } = spawnSync(envoy, ['--mode', 'validate', '-c', file]);
  directory.remove();
  return status === 0;
}

const retryAfters = program !== undefined && knowsRetryAfter(program) ? BOTH : ([false] as const);
const CASES: readonly Case[] = BOTH.flatMap((ownHeaders) =>
  retryAfters.flatMap((ownRetryAfter) =>
    BOTH.flatMap((three) =>
      BOTH.flatMap((policies) =>
        BOTH.map((retryAfter) => ({ ownHeaders, ownRetryAfter, three, policies, retryAfter })),
      ),
    ),
  ),
);

const ABOUT_LIMITS = /^(?:x-ratelimit-.*|ratelimit.*|retry-after)$/;

/** The fields about limits, in the order of their names; seconds of waiting read `T`. */
function limitFields({ fields }: WholeAnswer): readonly string[] {
  return fields
    .filter(([name]) => ABOUT_LIMITS.test(name))
    .map(([name, value]) => `${name}: ${value.replace(/^\d{6,}$|(?<=;t=)\d{6,}$/, 'T')}`)
    .toSorted();
}

function expectedFields(each: Case, user: User, isOver: boolean): readonly string[] {
  const { ownHeaders, ownRetryAfter, three, policies, retryAfter } = each;
  const fields = [
    ...(ownHeaders
      ? ['x-ratelimit-limit: 1, 1;w=31536000', 'x-ratelimit-remaining: 0', 'x-ratelimit-reset: T']
      : []),
    ...(three ? ['ratelimit-limit: 1', 'ratelimit-remaining: 0', 'ratelimit-reset: T'] : []),
    ...(policies
      ? [
          `ratelimit-policy: "1-per-year";q=1;w=31536000${user === 'gcra' ? ';weir-burst=1' : ''}`,
          'ratelimit: "1-per-year";r=0;t=T',
        ]
      : []),
    ...(isOver && (retryAfter || ownRetryAfter) ? ['retry-after: T'] : []),
  ];
  return fields.toSorted();
}

whereEnvoyIs('headers through Envoy', () => {
  let rules: TemporaryDirectory;
  beforeAll(() => {
    rules = createTemporaryDirectory();
    rules.write('config/edge.yaml', RULES);
  });
  afterAll(() => {
    rules.remove();
  });
  afterEach(async () => {
    await stopEnvoys();
    await stopServices();
  });

  const start = async (
    env: Readonly<Record<string, string>>,
    options: Pick<EnvoyOptions, 'ownHeaders' | 'ownRetryAfter' | 'filter'> = {},
  ) => {
    const service = await startService({
      env: { RUNTIME_ROOT: rules.path, ...env },
    });
    return startEnvoy(program ?? '', { service: service.grpc, ...options });
  };

  it.each(CASES)('are never doubled: %j', async (each) => {
    const env = {
      LIMIT_RESPONSE_HEADERS_ENABLED: String(each.three),
      LIMIT_POLICY_HEADERS: each.policies ? 'all' : 'off',
      LIMIT_RETRY_AFTER: each.retryAfter ? 'on' : 'off',
    };
    const envoy = await start(env, each);
    for (const user of USERS) {
      const answers = [
        await envoy.getWhole({ 'x-user': user }),
        await envoy.getWhole({ 'x-user': user }),
      ];
      expect(answers.map(({ status }) => status)).toEqual([200, 429]);
      expect(answers.map(limitFields)).toEqual([
        expectedFields(each, user, false),
        expectedFields(each, user, true),
      ]);
    }
  });

  it('keep our Retry-After, where Envoy can send its own too', async () => {
    const ownRetryAfter = retryAfters.some((its) => its);
    const envoy = await start(
      { LIMIT_RETRY_AFTER: 'on', LIMIT_RESET_JITTER: '100' },
      { ownRetryAfter },
    );
    await envoy.getWhole({ 'x-user': 'ann' });
    const { fields } = await envoy.getWhole({ 'x-user': 'ann' });
    const [reset, retryAfter] = ['x-ratelimit-reset', 'retry-after'].map((wanted) =>
      Number(fields.find(([name]) => name === wanted)?.[1]),
    );
    // Ours alone is lengthened.
    expect(retryAfter).toBeGreaterThan(reset ?? Infinity);
  });

  it('reach a gRPC client in its answer without a body', async () => {
    const envoy = await start({ LIMIT_POLICY_HEADERS: 'all', LIMIT_RETRY_AFTER: 'on' });
    const call = { 'x-user': 'ann', 'content-type': 'application/grpc', te: 'trailers' };
    await envoy.getWhole(call);
    const answer = await envoy.getWhole(call);
    expect(answer.fields).toEqual(
      expect.arrayContaining([
        ['grpc-status', '14'],
        ['ratelimit-policy', '"1-per-year";q=1;w=31536000'],
        ['retry-after', expect.stringMatching(/^\d+$/)],
      ]),
    );
  });

  it('let a problem be the body of a refused request, with its content type once', async () => {
    const envoy = await start({ LIMIT_BODY: 'problem' });
    await envoy.getWhole({ 'x-user': 'ann' });
    const { status, fields, body } = await envoy.getWhole({ 'x-user': 'ann' });
    expect(status).toBe(429);
    expect(JSON.parse(body)).toMatchObject({ 'violated-policies': ['1-per-year'] });
    expect(fields.filter(([name]) => name === 'content-type')).toEqual([
      ['content-type', 'application/problem+json'],
    ]);
  });

  describe('with LIMIT_BODY=untyped-problem and the content type of docs/endpoints.md', () => {
    const typesAndBody = ({ status, fields, body }: WholeAnswer) => ({
      status,
      types: fields.flatMap(([name, value]) => (name === 'content-type' ? [value] : [])),
      isProblem: body.startsWith('{"type":"https://iana.org/'),
    });
    const answersOf = async (body: string, filter: object) => {
      const envoy = await start({ LIMIT_BODY: body }, { filter });
      await envoy.getWhole({ 'x-user': 'ann' });
      return typesAndBody(await envoy.getWhole({ 'x-user': 'ann' }));
    };

    it('a refused request has its type', async () => {
      expect(await answersOf('untyped-problem', readTypeFilter())).toEqual({
        status: 429,
        types: ['application/problem+json'],
        isProblem: true,
      });
    });

    it.each([
      ['keeps that of the upstream', 'untyped-problem', readTypeFilter(), 'text/plain'],
      ['has both with LIMIT_BODY=problem', 'problem', {}, 'text/plain,application/problem+json'],
    ])('one that Envoy lets pass, for it does not enforce, %s', async (_, body, filter, type) => {
      const answer = await answersOf(body, { ...filter, ...NOT_ENFORCED });
      expect(answer).toEqual({ status: 200, types: [type], isProblem: false });
    });
  });
});
