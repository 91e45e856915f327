import { because } from '../core/explain/because';
import { limitFields, budgetFields, limitSource, sourceText } from '../core/explain/limit-fields';
import {
  entryTexts,
  explainPath,
  explainUnknownDomain,
  placeOfLimit,
} from '../core/explain/explain-path';
import type {
  CounterExplanation,
  DescriptorExplanation,
  Explanation,
  LimitExplanation,
  PathExplanation,
} from '../core/explain/explanation';
import { chargeOf } from '../core/explain/list-rules';
import { failure, type Failure } from '../core/errors';
import type { DecisionRequest, DescriptorStatus, Entry, RequestDescriptor } from '../core/model';
import { planBatch, type DescriptorHit, type Plan } from '../core/planning/plan';
import { readValueLimits } from '../core/planning/value-limit';
import { windowsAt } from '../core/planning/windows';
import type { Answer, CounterReader, CounterReading, Counters, Increment } from '../core/ports';
import { matchDescriptor } from '../core/rules/match';
import type { RuleLimit, RuleNode, Rules } from '../core/rules/rules';
import type { Secrets } from '../core/rules/secrets';
import { until, type Steps } from '../core/steps';
import { createDecideBatch, type DecisionOptions } from './decide-batch';

export interface ExplainDeps {
  readonly rules: Rules;
  readonly reader: CounterReader;
  /** Counters that answer from these readings as the store would, and change nothing. */
  readonly dryCounters: (readings: ReadonlyMap<string, CounterReading>) => Pick<Counters, 'add'>;
  /** Whether the local cache has a counter as over its limit. */
  readonly knows: (increment: Increment) => boolean;
  /** The lease that this process has on a counter; undefined: none. */
  readonly leaseOf?: (increment: Increment) => CounterExplanation['lease'] | undefined;
  readonly nowSeconds: number;
}

/**
 * The answer that a request would get, and why, by the code that decides requests. Nothing is counted. A failure is the request's
 * own: it is invalid.
 */
export function* explainRequest(
  request: DecisionRequest,
  deps: ExplainDeps,
  options: DecisionOptions,
): Steps<Explanation | Failure> {
  const { rules, nowSeconds } = deps;
  yield* until(Promise.resolve(readValueLimits(rules, request, options.limitsFrom)));
  const windows = windowsAt(Math.floor(nowSeconds));
  const plan = planBatch(rules, [request], windows, options, noJitter);
  const [fault] = plan.faults;
  if (fault !== undefined) return failure('invalid_request', fault);
  yield;
  const readings = yield* until(deps.reader.read(plan.increments));
  const local = readings.map((reading, at) => readingHere(reading, plan.increments[at], deps));
  const answer = yield* until(decide(request, local, plan, deps, options));
  const descriptors: DescriptorExplanation[] = [];
  for (const [at, descriptor] of request.descriptors.entries()) {
    yield;
    const explained = { descriptor, at, request, plan, readings, answer };
    descriptors.push(yield* explainDescriptor(explained, deps));
  }
  if (answer.kind === 'failure')
    return { because: answer.message, descriptors, responseHeaders: [] };
  const judged = answer.statuses.map((status, at) => {
    const hit = plan.descriptorHits[at];
    return { status, limit: hit?.limit, isOver: hit !== undefined && isOver(hit, local) };
  });
  return {
    overallCode: answer.overallCode,
    because: because(answer, judged, options),
    ...chargeOf(rules, request.domain),
    descriptors,
    responseHeaders: answer.responseHeaders.map(({ key, value }) => [key, value] as const),
  };
}

const noJitter = (): number => 0;

/** The reading from this process' view: hits left on its lease are charged already. */
function readingHere(
  reading: CounterReading,
  increment: Increment | undefined,
  { leaseOf }: ExplainDeps,
): CounterReading {
  if (increment?.rule.isLeased !== true) return reading;
  const { left = 0 } = leaseOf?.(increment) ?? {};
  return left === 0 ? reading : { ...reading, count: Math.max(0, reading.count - left) };
}

/** The answer of the service for these readings. */
async function decide(
  request: DecisionRequest,
  readings: readonly CounterReading[],
  { increments }: Plan,
  { rules, dryCounters, nowSeconds }: ExplainDeps,
  options: DecisionOptions,
): Promise<Answer> {
  const byKey = new Map(
    increments.map(({ key }, at) => [key, readings[at] as CounterReading] as const),
  );
  let answer: Answer | undefined;
  let cause: unknown;
  const decideBatch = createDecideBatch(
    {
      rules: { current: rules },
      counters: dryCounters(byKey),
      clock: () => nowSeconds,
      random: noJitter,
      onFault: (error) => {
        cause = error;
      },
    },
    options,
  );
  const responder = {
    answer: (_ticket: number, given: Answer) => {
      answer = given;
      return true;
    },
  };
  await decideBatch([{ request, responder, callId: 0 }]);
  if (answer === undefined || cause !== undefined)
    throw new Error('the request could not be explained', { cause });
  return answer;
}

/** The context for the explanation of one descriptor. */
interface Explained {
  readonly descriptor: RequestDescriptor;
  /** The index of the descriptor. */
  readonly at: number;
  readonly request: DecisionRequest;
  readonly plan: Plan;
  readonly readings: readonly CounterReading[];
  readonly answer: Answer;
}

function* explainDescriptor(
  explained: Explained,
  deps: ExplainDeps,
): Generator<undefined, DescriptorExplanation, void> {
  const { descriptor, at, plan, readings, answer } = explained;
  const hit = plan.descriptorHits[at];
  const path = yield* pathOf(explained, deps);
  const entries = entryTexts(plan.secrets, descriptor.entries);
  if (hit === undefined) return { entries, ...path };
  if (hit.limit.unlimited) {
    const hint = unlimitedHint(hit.limit, descriptor.entries, plan.secrets);
    return { entries, ...path, noLimit: { reason: 'unlimited', hint }, metric: hit.metric };
  }
  const increment = plan.increments[hit.increment] as Increment;
  const reading = readings[hit.increment] as CounterReading;
  const status = answer.kind === 'decision' ? answer.statuses[at] : undefined;
  const isOwn = descriptor.limit !== undefined;
  return {
    entries,
    ...path,
    limit: limitOf(hit, isOwn, deps.rules, explained),
    metric: hit.metric,
    counter: counterOf(increment, reading, deps),
    ...askedOf(hit, status),
    ...notesOf(hit),
  };
}

function unlimitedHint(
  limit: RuleLimit,
  entries: readonly Entry[],
  secrets: Secrets | undefined,
): string {
  const { limitsFrom } = limitSource(limit, entries, secrets);
  const why = limitsFrom === undefined ? 'the rule is unlimited' : sourceText(limitsFrom);
  return `${why}: its hits are counted in statistics only`;
}

function* pathOf(
  explained: Explained,
  { rules }: ExplainDeps,
): Generator<undefined, PathExplanation, void> {
  const { descriptor, at, request, plan } = explained;
  const domain = rules.domains.get(request.domain);
  const isOwn = descriptor.limit !== undefined;
  if (domain === undefined) {
    const noLimit = yield* explainUnknownDomain(request.domain, rules.domains.keys());
    return { path: [], noLimit: isOwn ? { ...noLimit, also: 'override_ignored' } : noLimit };
  }
  if (isOwn) return { path: [] };
  const path = yield* explainPath(domain, descriptor.entries, rules.places);
  if (path.noLimit !== undefined || plan.descriptorHits[at] !== undefined) return path;
  return { ...path, noLimit: { reason: 'replaced', hint: replacedBy(explained, rules) } };
}

/** The descriptor whose rule replaces that of this one. */
function replacedBy({ descriptor, request }: Explained, rules: Rules): string {
  const domain = rules.domains.get(request.domain);
  const matches = request.descriptors.map((one) => domain && matchDescriptor(domain, one));
  const own = domain && matchDescriptor(domain, descriptor);
  const name = typeof own === 'object' ? own.limit.name : '';
  const by = matches.findIndex(
    (match) => typeof match === 'object' && match.limit.replaces.includes(name),
  );
  const rule = matches[by];
  const metric = typeof rule === 'object' ? rule.metric : '';
  return `the rule ${metric} of descriptors[${String(by)}] replaces ${JSON.stringify(name)}`;
}

function limitOf(
  { limit }: DescriptorHit,
  isOwn: boolean,
  { places, domains }: Rules,
  { descriptor, request, plan }: Explained,
): LimitExplanation {
  const domain = domains.get(request.domain);
  const match = domain && matchDescriptor(domain, descriptor);
  const node = typeof match === 'object' ? (match.template as RuleNode) : undefined;
  return {
    ...limitFields(limit),
    ...limitSource(limit, descriptor.entries, plan.secrets),
    ...(isOwn ? { source: 'request' as const } : placeOfLimit(node && places.get(node))),
  };
}

function counterOf(
  increment: Increment,
  reading: CounterReading,
  { knows, leaseOf, nowSeconds }: ExplainDeps,
): CounterExplanation {
  const { rule } = increment;
  const lease = leaseOf?.(increment);
  const { count, expiresInSeconds, store, error } = reading;
  return {
    key: increment.key,
    store,
    ...(error === undefined && { count, ...budgetFields(rule, reading, Math.floor(nowSeconds)) }),
    ...(expiresInSeconds !== undefined && { expiresInSeconds }),
    cachedOverLimit: knows(increment),
    ...(lease !== undefined && { lease }),
    ...(error !== undefined && { error: error.message }),
  };
}

function askedOf(
  { hits }: DescriptorHit,
  status: DescriptorStatus | undefined,
): Pick<DescriptorExplanation, 'ifAsked'> {
  if (status === undefined) return {};
  const { code, limitRemaining: remaining, secondsUntilReset: resetSeconds } = status;
  return {
    ifAsked: { hits, code, remaining, ...(resetSeconds !== undefined && { resetSeconds }) },
  };
}

function notesOf({ hits, limit }: DescriptorHit): Pick<DescriptorExplanation, 'notes'> {
  const notes = [
    ...(limit.shadowMode ? ['shadow mode: counted and reported, never refused'] : []),
    ...(hits < 0 ? ['the hits are given back'] : []),
    ...(hits === 0 ? ['a request with 0 hits reads the counter and adds nothing'] : []),
  ];
  return notes.length === 0 ? {} : { notes };
}

function isOver(
  { increment, hits, limit }: DescriptorHit,
  readings: readonly CounterReading[],
): boolean {
  const reading = readings[increment];
  return reading !== undefined && reading.count + hits > limit.limiter.size;
}
