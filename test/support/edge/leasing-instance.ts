import { createCounterAdmin } from '../../../src/app/admin/counter-admin';
import { chooseCounters } from '../../../src/app/store/store';
import { windowsAt } from '../../../src/core/planning/windows';
import { findCounters } from '../../../src/core/planning/plan';
import type { DecisionRequest } from '../../../src/core/model';
import type { Answer } from '../../../src/core/ports';
import { compileRules } from '../../../src/core/rules/compile';
import { createDecideBatch } from '../../../src/decisions/decide-batch';
import { readSettings } from '../../../src/settings/settings';
import { createRegistry } from '../../../src/stats/registry';
import { createSnapshot } from '../../../streams';
import { PLAIN_DECISIONS } from '../decider';
import { eventually } from './eventually';
import { recordingResponder } from '../recording-responder';
import { parseTexts } from '../rule-texts';
import { silentLogger } from '../silent-logger';

/** What a batch was answered, and whether that was in the turn in which it was asked. */
export interface AskedBatch {
  readonly isAtOnce: boolean;
  /** The code of each request. */
  readonly codes: Promise<readonly string[]>;
}

/** Its clocks stand: a window does not turn, no lease is idle, and all hits are those of the last second. */
const NOW_SECONDS = Math.floor(Date.now() / 1_000);

/** A counter of a second too outlives its test. */
const JITTER_SECONDS = 300;

/**
 * An instance without ports, whose store is made from the environment as that of the service. All its rules are leased that
 * can be, and a lease has the hits of a second.
 */
export async function startLeasingInstance(
  env: Readonly<Record<string, string>>,
  ...ruleTexts: readonly string[]
) {
  const read = readSettings({ DISABLE_STATS: 'true', LEASE_TIME: '60s', ...env });
  if (!read.ok) throw new Error(read.problems.join('\n'));
  const { domains } = parseTexts(Object.fromEntries(ruleTexts.entries()), false);
  const rules = createSnapshot(compileRules(domains, { leases: true }));
  const clock = () => NOW_SECONDS;
  const statistics = createRegistry();
  const base = { clock, random: () => 0.9, statistics, logger: silentLogger };
  const store = chooseCounters(read.settings, { ...base, monotonicMs: () => 0 });
  let isConnected = false;
  const subscriptions = [
    store.connected$.subscribe((is) => (isConnected = is)),
    store.run$.subscribe(),
  ];
  await eventually(() => {
    expect(isConnected).toBe(true);
  });
  const decideBatch = createDecideBatch(
    {
      ...{ ...base, rules, counters: store.counters },
      onFault: (error) => {
        throw error;
      },
    },
    { ...PLAIN_DECISIONS, ttlJitterSeconds: JITTER_SECONDS },
  );
  const countersOf = (request: DecisionRequest) => {
    const found = findCounters(rules.current, request, windowsAt(NOW_SECONDS), { keyPrefix: '' });
    if (typeof found === 'string') throw new Error(found);
    return found;
  };
  const keysOf = (request: DecisionRequest): readonly string[] =>
    countersOf(request).map((one) => one?.key ?? '');
  return {
    store,
    statistics,
    admin: createCounterAdmin(
      { ...base, whyNoRules: { current: '' }, rules, store },
      { keyPrefix: '', isShared: true },
    ),
    /** The keys of the counters of a request. */
    keysOf,
    /** Hits on lease here, of each counter of a request. */
    leftOf: (request: DecisionRequest) =>
      countersOf(request).map((one) => one && store.leases?.read(one)?.left),
    ask(...requests: readonly DecisionRequest[]): AskedBatch {
      const responder = recordingResponder();
      const decided = decideBatch(
        requests.map((request, callId) => ({ request, responder, callId })),
      );
      const codes = () => requests.map((_, callId) => codeOf(responder.answers.get(callId)));
      const isAtOnce = responder.answers.size === requests.length;
      return { isAtOnce, codes: Promise.resolve(decided).then(codes) };
    },
    async close() {
      await store.counters.close();
      for (const each of subscriptions) each.unsubscribe();
    },
  };
}

export type LeasingInstance = Awaited<ReturnType<typeof startLeasingInstance>>;

function codeOf(answer: Answer | undefined): string {
  if (answer === undefined) return 'none';
  return answer.kind === 'decision' ? answer.overallCode : answer.code;
}
