import type { Code, DecisionRequest, DescriptorStatus } from '../../../src/core/model';
import type { Answer } from '../../../src/core/ports';
import { descriptor, request } from '../requests';
import type { AnswerPart, Scenario, Step } from './read-scenarios';
import type { Stage } from './stages';

/** The lines of a scenario, with the answers of this stage in place of those that it expects. */
export async function playScenario(scenario: Scenario, stage: Stage): Promise<readonly string[]> {
  let requests: readonly DecisionRequest[] = [];
  let answers: readonly (Answer | undefined)[] = [];
  const play = async (step: Step): Promise<string> => {
    if (isAct(step)) {
      await act(step, stage, requests);
      return step.line;
    }
    switch (step.kind) {
      case 'ask':
        requests = step.asked.split('; ').map((one) => toRequest(one, stage));
        answers = await stage.decide(requests);
        return `${step.asked} -> ${answersLike(step.expected, answers)}`;
      case 'answer':
        return `${step.part} ${answers.map((answer) => partOf(answer, step.part)).join('; ')}`;
      case 'statistics':
      case 'keys':
      case 'kept': {
        const values = await Promise.all(step.names.map((name) => valueOf(step.kind, name, stage)));
        const pairs = step.names.map((name, at) => `${name}=${String(values[at])}`);
        return `${step.kind} ${pairs.join(' ')}`;
      }
    }
  };
  const lines: string[] = [];
  for (const step of scenario.steps) lines.push(await play(step));
  return lines;
}

/** What was counted under a name, what a key holds, or for how long it is kept. */
async function valueOf(kind: 'statistics' | 'keys' | 'kept', name: string, stage: Stage) {
  if (kind === 'statistics') return stage.statistic(name);
  if (kind === 'kept') return stage.kept(name);
  return (await stage.keys()).get(name)?.replaceAll(' ', ',') ?? 'none';
}

const ACTS = ['wait', 'time', 'rules', 'store', 'redis', 'read limits'] as const;
type Act = Extract<Step, { kind: (typeof ACTS)[number] }>;

function isAct(step: Step): step is Act {
  return ACTS.some((kind) => kind === step.kind);
}

/** A step that is told as it stands. */
async function act(step: Act, stage: Stage, requests: readonly DecisionRequest[]): Promise<void> {
  switch (step.kind) {
    case 'wait':
      // Whole milliseconds: sums of fractions would be off by a little.
      stage.setTime(Math.round((stage.now() + step.seconds) * 1_000) / 1_000);
      return;
    case 'time':
      stage.setTime(step.at);
      return;
    case 'rules':
      await stage.setRules(step.rules);
      return;
    case 'store':
      stage.setAway(step.isAway);
      return;
    case 'redis':
      await stage.redis(step.words);
      return;
    case 'read limits':
      await stage.readLimits(requests);
  }
}

/** `[@DOMAIN] KEY=VALUE KEY=VALUE *HITS & KEY=VALUE`: descriptors of one request. */
export function toRequest(text: string, { domain }: Pick<Stage, 'domain'>): DecisionRequest {
  const [, named = domain, rest = ''] = /^(?:@(\S+) )?(.*)$/.exec(text) ?? [];
  const descriptors = rest.split(' & ').map((one) => {
    const words = one.split(' ');
    const hits = words.find((word) => word.startsWith('*'))?.slice(1);
    return descriptor(
      words.filter((word) => !word.startsWith('*')),
      hits === undefined ? {} : { hits: sizeOf(hits), isNegativeHits: hits.startsWith('-') },
    );
  });
  return request(named, descriptors);
}

function sizeOf(hits: string): number | bigint {
  const size = BigInt(hits.replace('-', ''));
  return size > Number.MAX_SAFE_INTEGER ? size : Number(size);
}

/** The answers with as many details as a scenario expects of each. */
function answersLike(expected: string, answers: readonly (Answer | undefined)[]): string {
  const wanted = expected.split('; ');
  return answers.map((answer, at) => answerLike(wanted[at] ?? '', answer)).join('; ');
}

function answerLike(expected: string, answer: Answer | undefined): string {
  if (answer === undefined) return 'no answer';
  if (answer.kind !== 'decision') return expected === 'fails' ? expected : answer.message;
  const [, hasOverall, statuses = ''] = /^(?:(OK|OVER): )?(.*)$/.exec(expected) ?? [];
  const wanted = statuses.split(', ');
  const told = answer.statuses.map((status, at) => statusLike(wanted[at] ?? '', status)).join(', ');
  return hasOverall === undefined ? told : `${shorten(answer.overallCode)}: ${told}`;
}

/** `OK REMAINING LIMIT/UNIT in SECONDS`: what a scenario leaves out is not told. A unit may have a multiplier: `5_minute`. */
const STATUS = /^(?:OK|OVER)( \d+)?( (?:\d+\/)?[a-z0-9_]+)?( in .*)?$/;

function statusLike(expected: string, status: DescriptorStatus): string {
  const { code, currentLimit, limitRemaining, secondsUntilReset } = status;
  const parts = STATUS.exec(expected) ?? [undefined, ' 0', ' 0/', ' in'];
  const [, remaining, limit, reset] = parts as readonly (string | undefined)[];
  const words = [shorten(code)];
  if (remaining !== undefined) words.push(String(limitRemaining));
  if (limit !== undefined) words.push(limitOf(currentLimit, limit.includes('/')));
  if (reset !== undefined) words.push(`in ${String(secondsUntilReset ?? 'no time')}`);
  return words.join(' ');
}

/** `3/minute`, or without the hits; `5_minute` where there is a multiplier. */
function limitOf(limit: DescriptorStatus['currentLimit'], hasHits: boolean): string {
  if (limit === undefined) return 'none';
  const { unit, unitMultiplier, requestsPerUnit } = limit;
  const period = unitMultiplier === undefined ? unit : `${String(unitMultiplier)}_${unit}`;
  return `${hasHits ? `${String(requestsPerUnit)}/` : ''}${period.toLowerCase()}`;
}

const shorten = (code: Code): string => (code === 'OK' ? 'OK' : 'OVER');

function partOf(answer: Answer | undefined, part: AnswerPart): string {
  if (answer?.kind !== 'decision') return 'none';
  const { responseHeaders, retryAfter, rawBody, dynamicMetadata } = answer;
  const text = {
    headers: responseHeaders.map(({ key, value }) => `${key}: ${value}`).join(', '),
    'retry-after': retryAfter,
    body: rawBody,
    metadata: dynamicMetadata && JSON.stringify(dynamicMetadata),
  }[part];
  return text === undefined || text === '' ? 'none' : text;
}
