import fc from 'fast-check';
import { STATUS_OF_ERROR } from '../../src/identity/contract/errors';
import { createReject } from '../../src/identity/service/create-identity-service';
import { ANN, grant, startIdentity } from '../support/identity';
import {
  openapi,
  operations,
  problemsOfAnswer,
  sendDocumented,
} from '../support/identity-document';
import type { HttpAnswer } from '../support/raw-http';

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
          const ask = (by: string) =>
            sendDocumented(`${base}${path}${search}`, [...headers, ...ids], by);
          const answer = await ask(asHead ? 'GET' : method);
          seen.add(answer.status);
          if (!asHead || requestId === undefined) return;
          identity.clock.nowMs += 1_000;
          const head = await ask('HEAD');
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
