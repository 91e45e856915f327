import { createOpenEndpoint } from '../../../../src/app/admin/create-admin';
import { failure } from '../../../../src/core/errors';
import type { DecisionRequest } from '../../../../src/core/model';
import type { CounterAdmin } from '../../../../src/transport/debug/admin/counter-endpoints';
import { parseRequest } from '../../../../src/transport/http/json/parse-request';
import { DEFAULT_BOUNDS } from '../../../../src/transport/bounds';
import { descriptor, request } from '../../../support/requests';
import { runSteps } from '../../../support/run-steps';

const SHOWN = { entries: ['user=ann'], key: '{c:llm_user_ann~3}~c', reservations: [] };

function serve(open: CounterAdmin['open'] = () => Promise.resolve(SHOWN)) {
  const asked: (readonly [DecisionRequest, number])[] = [];
  const endpoint = createOpenEndpoint(
    {
      open: (of, most) => {
        asked.push([of, most]);
        return open(of, most);
      },
    },
    (text) => parseRequest(text, DEFAULT_BOUNDS),
  );
  const call = (query: string) =>
    runSteps(
      endpoint.handle({
        ...{ body: undefined, text: '', peer: '10.0.0.9', tokenId: undefined },
        query: new URLSearchParams(query),
      }),
    );
  return { endpoint, asked, call };
}

it('is a path that reads', () => {
  expect(serve().endpoint).toMatchObject({
    method: 'GET',
    path: '/api/v1/counters/open',
    access: 'read',
  });
});

it('takes the domain and each entry of the descriptor, and answers what it was shown', async () => {
  const { call, asked } = serve();
  expect(await call('domain=llm&entry=user=a=b&entry=path=%2Fc%26d&limit=1000')).toEqual({
    status: 200,
    body: SHOWN,
  });
  await call('domain=llm&entry=user=');
  expect(asked).toEqual([
    [request('llm', [descriptor(['user=a=b', 'path=/c&d'])]), 1_000],
    [request('llm', ['user=']), 100],
  ]);
});

it.each([
  ['domain=llm', 'entry is missing, expected entry=key=value'],
  ['domain=llm&entry=user', 'entry is "user", expected key=value'],
  ['domain=llm&entry==ann', 'entry is "=ann", expected key=value'],
  ['domain=llm&entry=user=ann&limit=1001', 'limit is "1001", expected a whole number from 1'],
  ['domain=llm&entry=user=ann&limit=', 'limit is "", expected'],
  [`domain=llm${'&entry=a=b'.repeat(200)}`, 'MAX_DESCRIPTOR_ENTRIES'],
])('refuses %s', async (query, error) => {
  const { call, asked } = serve();
  expect(await call(query)).toMatchObject({
    status: 400,
    body: { code: 'invalid_request', error: expect.stringContaining(error) as string },
  });
  expect(asked).toEqual([]);
});

it('answers failures as /json does', async () => {
  const { call } = serve(() => Promise.resolve(failure('no_rules', 'none yet')));
  expect(await call('domain=llm&entry=user=ann')).toMatchObject({ status: 503 });
});
