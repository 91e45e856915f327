import { merge, Subscription } from 'rxjs';
import { createOutageLog } from '../../../../src/app/outage-log';
import { openLimitsFrom } from '../../../../src/app/store/open-limits-from';
import type { KeyRules, LimitsFromRule } from '../../../../src/core/rules/rules';
import { createRecordingLogger } from '../../../support/recording-logger';
import { rulesOf } from '../../../support/rules';

let subscription = Subscription.EMPTY;
beforeEach(() => jest.useFakeTimers());
afterEach(() => {
  subscription.unsubscribe();
  jest.useRealTimers();
});

function ruleFrom(key: string): LimitsFromRule {
  const limitsFrom = { key, refreshMs: 10_000 };
  const limit = { requestsPerUnit: 5, unit: 'MINUTE', limitsFrom } as const;
  const { top } = rulesOf('d', [{ key: 'k', limit }]).domains.get('d') ?? {};
  return (top as KeyRules).anyValue?.limit?.limitsFrom as LimitsFromRule;
}

it('what is wrong with a hash of which nobody asks any more ends when it is forgotten', async () => {
  const monotonicMs = () => jest.now();
  const outages = createOutageLog({ logger: createRecordingLogger().logger, monotonicMs });
  const limits = openLimitsFrom({
    store: { readFields: () => Promise.reject(new Error('away')) },
    statistics: { count: () => undefined },
    monotonicMs,
    outages,
  });
  subscription = merge(outages.run$, limits.run$).subscribe();
  limits.limitOf(ruleFrom('tenants'), 'ann');
  await jest.advanceTimersByTimeAsync(600_000);
  expect(outages.open().map(({ name }) => name)).toEqual(['limits_from tenants']);
  await jest.advanceTimersByTimeAsync(3_100_000);
  expect(outages.open()).toEqual([]);
  expect(jest.getTimerCount()).toBe(0);
});
