import { readDecision, toVerdict } from '../../../src/identity/limits/decisions';
import { createLimits } from '../../../src/identity/limits/limits';
import { createFakeDecisions } from '../../support/identity';

function createUnderTest(failure: 'allow' | 'deny' = 'allow', maxBlocked = 2) {
  const fake = createFakeDecisions();
  const clock = { ms: 0 };
  const failures: unknown[] = [];
  const limits = createLimits(
    {
      decisions: fake.decisions,
      monotonicMs: () => clock.ms,
      onFailure: (error) => failures.push(error),
    },
    { failure, maxBlocked },
  );
  return { ...fake, limits, clock, failures };
}

const over = { isOver: true, limit: 5, resetSeconds: 10 };

it('blocks an address that failed too often until the window ends', async () => {
  const { limits, over: answers, asked, clock } = createUnderTest();
  answers.set('authenticated=false,remote_address=a', over);
  await limits.chargeFailure('a');
  clock.ms = 9_999;
  expect(await limits.admit('a', false)).toEqual({
    kind: 'over-limit',
    limit: 5,
    retryAfterSeconds: 1,
  });
  expect(asked).toHaveLength(1);
  clock.ms = 10_000;
  expect(await limits.admit('a', false)).toBeUndefined();
});

describe('an address that failed too often', () => {
  it('does not get out of it by too many requests with them', async () => {
    const { limits, over: answers, clock } = createUnderTest();
    answers.set('authenticated=false,remote_address=a', over);
    await limits.chargeFailure('a');
    answers.set('remote_address=a', { isOver: true, limit: 100, resetSeconds: 1 });
    await limits.admit('a', true);
    answers.clear();
    clock.ms = 1_000;
    expect(await limits.admit('a', true)).toBeUndefined();
    expect(await limits.admit('a', false)).toEqual({
      kind: 'over-limit',
      limit: 5,
      retryAfterSeconds: 9,
    });
  });

  it.each(['allow', 'deny'] as const)(
    'hears of a failure there what it hears of any, also without a decision: %s',
    async (failure) => {
      const { limits, over: answers, fail, asked } = createUnderTest(failure);
      answers.set('authenticated=false,remote_address=a', over);
      await limits.chargeFailure('a');
      const state = await limits.admit('a', false);
      answers.clear();
      expect(await limits.chargeFailure('a')).toEqual(state);
      fail(new Error('away'));
      expect(await limits.chargeFailure('a')).toEqual(state);
      expect(asked.filter((text) => text.startsWith('authenticated=false'))).toHaveLength(3);
    },
  );
});

it('blocks no address because of a user', async () => {
  const { limits, over: answers } = createUnderTest();
  answers.set('authenticated=true,user_id=u', over);
  expect(await limits.chargeUser('u')).toMatchObject({ kind: 'over-limit' });
  expect(await limits.admit('u', false)).toBeUndefined();
});

it('remembers so many addresses and no more, the newest', async () => {
  const { limits, over: answers, asked } = createUnderTest('allow', 2);
  for (const address of ['a', 'b', 'c']) {
    answers.set(`remote_address=${address}`, over);
    await limits.admit(address, false);
  }
  asked.length = 0;
  for (const address of ['c', 'b', 'a']) await limits.admit(address, false);
  expect(asked).toEqual(['remote_address=a']);
});

describe('a verdict', () => {
  it('takes the limit that lasts longest of those that were hit', () => {
    const statuses = [
      { isOver: true, limit: 1, resetSeconds: 5 },
      { isOver: true, limit: 2, resetSeconds: 50 },
      { isOver: false, limit: 3, resetSeconds: 500 },
    ];
    expect(toVerdict(true, statuses)).toEqual({ isOver: true, limit: 2, resetSeconds: 50 });
  });

  it('is what the overall code says, since shadow mode changes only that', () => {
    expect(toVerdict(false, [over]).isOver).toBe(false);
  });

  it.each([
    ['as JSON', '42s'],
    ['as gRPC', { seconds: '42' }],
  ])('is read from an answer %s', (_, durationUntilReset) => {
    const statuses = [
      { code: 'OVER_LIMIT', currentLimit: { requestsPerUnit: 7 }, durationUntilReset },
    ];
    expect(readDecision({ overallCode: 'OVER_LIMIT', statuses })).toEqual({
      isOver: true,
      limit: 7,
      resetSeconds: 42,
    });
  });

  it.each([{}, { overallCode: 'UNKNOWN' }, { error: 'no' }])('is none in %j', (answer) => {
    expect(() => readDecision(answer)).toThrow('the answer holds no decision');
  });

  it('takes a limit that is left out for 0, and no time that is none', () => {
    const statuses = [{ code: 'OVER_LIMIT', currentLimit: {}, durationUntilReset: 'soon' }];
    expect(readDecision({ overallCode: 'OVER_LIMIT', statuses })).toEqual({
      isOver: true,
      limit: 0,
      resetSeconds: undefined,
    });
  });

  it('is made of what there is when an answer says little', () => {
    expect(readDecision({ overallCode: 'OK' })).toMatchObject({ isOver: false });
    const bare = { overallCode: 'OVER_LIMIT', statuses: [{ code: 'OVER_LIMIT' }] };
    expect(readDecision(bare)).toEqual({ isOver: true, limit: undefined, resetSeconds: undefined });
  });
});
