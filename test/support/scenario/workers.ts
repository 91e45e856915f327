import { firstValueFrom, Subject } from 'rxjs';
import { createRuleRelay } from '../../../src/app/workers/pool/rule-relay';
import { createOwnerLink } from '../../../src/app/workers/worker/owner-link';
import { createReporter } from '../../../src/app/workers/worker/reporter';
import type { FromWorker, ToWorker } from '../../../src/app/workers/messages';
import type { RequestBounds } from '../../../src/core/decision/request';
import type { CompileOptions } from '../../../src/core/rules/compile';
import type { DomainDefinition } from '../../../src/core/rules/definition';
import type { Rules } from '../../../src/core/rules/rules';
import type { LoadResult } from '../../../src/rule-sources/load-result';
import { addDifferences } from '../../../src/stats/differences';
import { createRegistry, type Registry } from '../../../src/stats/registry';
import { silentLogger } from '../silent-logger';

/** The rules of the owner as each of its workers has them: sent in messages, and compiled again. */
export async function relayRules(
  owned: { readonly rules: Rules; readonly definitions: readonly DomainDefinition[] },
  options: CompileOptions & { readonly bounds: RequestBounds },
  count: number,
): Promise<readonly Rules[]> {
  const loads = new Subject<LoadResult<Rules>>();
  const nothing = (): undefined => undefined;
  const workers = Array.from({ length: count }, (_, at) => {
    const link = createOwnerLink(
      (message) => {
        if (message.kind === 'in-force') relay.inForce(at + 1, message.number);
      },
      {
        ...{ start: nothing, collect: nothing, watch: nothing, profile: nothing, drain: nothing },
        ...{ 'count-connections': nothing, 'keep-connections': nothing },
      },
      options,
    );
    const send = (message: ToWorker) => {
      link.take(structuredClone(message));
    };
    return { link, slot: { worker: at + 1, state: 'up' as const, send } };
  });
  const relay = createRuleRelay(loads, {
    slots: workers.map(({ slot }) => slot),
    definitionsOf: () => owned.definitions,
    onOverdue: nothing,
    onTakenBack: nothing,
    monotonicMs: () => 0,
    logger: silentLogger,
  });
  const inForce = firstValueFrom(relay.loads$);
  const { rules } = owned;
  loads.next({
    ok: true,
    rules,
    domainCount: 1,
    ruleCount: 1,
    digest: '',
    problems: [],
    durationMs: 0,
  });
  await inForce;
  return workers.map(({ link }) => {
    const { current = rules } = link.rules;
    link.close();
    return current;
  });
}

/** Statistics of several workers, and those of the owner, who adds up what they report. */
export function createWorkerStatistics(count: number) {
  const sums = createRegistry();
  const take = (message: FromWorker): Promise<void> => {
    if (message.kind === 'counted') addDifferences(sums, structuredClone(message.differences));
    return Promise.resolve();
  };
  const registries = Array.from({ length: count }, () => createRegistry());
  const reporters = registries.map((registry) => createReporter(registry, take));
  return {
    registries,
    async collect(): Promise<Registry> {
      for (const reporter of reporters) await reporter.report();
      return sums;
    },
  };
}
