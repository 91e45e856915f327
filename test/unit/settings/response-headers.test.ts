import { problemsOf } from './results';

type Env = Readonly<Record<string, string>>;

it.each<[Env, string]>([
  [
    {
      LIMIT_RESPONSE_HEADERS_ENABLED: 'true',
      LIMIT_LIMIT_HEADER: 'ratelimit',
      LIMIT_POLICY_HEADERS: 'all',
    },
    'LIMIT_POLICY_HEADERS="all" and LIMIT_LIMIT_HEADER="ratelimit": both send the header RateLimit, expected another name for one of them',
  ],
  [
    {
      LIMIT_RESPONSE_HEADERS_ENABLED: 'true',
      LIMIT_RESET_HEADER: 'Retry-After',
      LIMIT_RETRY_AFTER: 'on',
    },
    'LIMIT_RETRY_AFTER="on" and LIMIT_RESET_HEADER="Retry-After": both send the header Retry-After, expected another name for one of them',
  ],
  [
    { LIMIT_RESPONSE_HEADERS_ENABLED: 'true', LIMIT_NEAR_HEADER: 'ratelimit-reset' },
    'LIMIT_NEAR_HEADER="ratelimit-reset" and LIMIT_RESET_HEADER: both send the header ratelimit-reset, expected another name for one of them',
  ],
  [
    { LIMIT_BODY: 'problem', LIMIT_NEAR_HEADER: 'content-type' },
    'LIMIT_NEAR_HEADER="content-type" and LIMIT_BODY="problem": both send the header content-type, expected another name for one of them',
  ],
])('refuses %j, which sends one header twice', (env, problem) => {
  expect(problemsOf(env)).toEqual([problem]);
});

it.each<Env>([
  { LIMIT_POLICY_HEADERS: 'all', LIMIT_RETRY_AFTER: 'on', LIMIT_NEAR_HEADER: 'x-near' },
  // As today: the first three are off.
  { LIMIT_LIMIT_HEADER: 'RateLimit', LIMIT_POLICY_HEADERS: 'all' },
  // As today: two of the three may have one name.
  { LIMIT_RESPONSE_HEADERS_ENABLED: 'true', LIMIT_LIMIT_HEADER: 'x', LIMIT_RESET_HEADER: 'x' },
])('takes %j', (env) => {
  expect(problemsOf(env)).toEqual([]);
});
