import type { Code, DecisionRequest, DescriptorStatus } from '../../../src/core/model';
import type { Answer } from '../../../src/core/ports';
import { descriptor, request } from '../requests';
import type { Scenario, Step } from './read-scenarios';
import type { Stage } from './stages';

/** Where the time of a scenario begins: a minute, an hour and no day. */
export const SCENARIO_START = 1_795_240_800;

/** The lines of a scenario, with the answers of this stage in place of those that it expects. */
export async function playScenario(scenario: Scenario, stage: Stage): Promise<readonly string[]> {
  let answers: readonly (Answer | undefined)[] = [];
  const play = async (step: Step): Promise<string> => {
    switch (step.kind) {
      case 'wait':
        // Whole milliseconds: sums of fractions would be off by a little.
        stage.setTime(Math.round((stage.now() + step.seconds) * 1_000) / 1_000);
        return step.line;
      case 'time':
        stage.setTime(step.at);
        return step.line;
      case 'ask':
        answers = await stage.decide(step.asked.split('; ').map((one) => toRequest(one, stage)));
        return `${step.asked} -> ${answersLike(step.expected, answers)}`;
      case 'headers':
        return `headers ${answers.map(headersOf).join('; ')}`;
      case 'statistics':
        return `statistics ${step.names.map((name) => `${name}=${stage.statistic(name)}`).join(' ')}`;
      case 'rules':
        stage.setRules(step.rules);
        return step.line;
      case 'keys': {
        const keys = await stage.keys();
        const valueOf = (name: string) => keys.get(name)?.replaceAll(' ', ',') ?? 'none';
        return `keys ${step.names.map((name) => `${name}=${valueOf(name)}`).join(' ')}`;
      }
      case 'kept': {
        const kept = step.names.map(async (name) => `${name}=${String(await stage.kept(name))}`);
        return `kept ${(await Promise.all(kept)).join(' ')}`;
      }
    }
  };
  const lines: string[] = [];
  for (const step of scenario.steps) lines.push(await play(step));
  return lines;
}

/** `[@DOMAIN] KEY=VALUE KEY=VALUE *HITS & KEY=VALUE`: descriptors of one request. */
function toRequest(text: string, { domain }: Stage): DecisionRequest {
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
  if (answer?.kind !== 'decision') return answer?.message ?? 'no answer';
  const [, hasOverall, statuses = ''] = /^(?:(OK|OVER): )?(.*)$/.exec(expected) ?? [];
  const wanted = statuses.split(', ');
  const told = answer.statuses.map((status, at) => statusLike(wanted[at] ?? '', status)).join(', ');
  return hasOverall === undefined ? told : `${shorten(answer.overallCode)}: ${told}`;
}

/** `OK REMAINING LIMIT/UNIT in SECONDS`: what a scenario leaves out is not told. A unit may have a multiplier: `5_minute`. */
const STATUS = /^(?:OK|OVER)( \d+)?( (?:\d+\/)?[a-z0-9_]+)?( in .*)?$/;

function statusLike(expected: string, status: DescriptorStatus): string {
  const { code, currentLimit, limitRemaining, secondsUntilReset } = status;
  const [, remaining, limit, reset] = STATUS.exec(expected) ?? [undefined, ' 0', ' 0/', ' in'];
  const unit = unitOf(currentLimit);
  const amount = limit?.includes('/') === true ? `${String(currentLimit?.requestsPerUnit)}/` : '';
  return [
    shorten(code),
    ...(remaining === undefined ? [] : [String(limitRemaining)]),
    ...(limit === undefined ? [] : [`${amount}${unit}`]),
    ...(reset === undefined ? [] : [`in ${String(secondsUntilReset ?? 'no time')}`]),
  ].join(' ');
}

function unitOf(limit: DescriptorStatus['currentLimit']): string {
  if (limit === undefined) return 'none';
  const { unit, unitMultiplier } = limit;
  return `${unitMultiplier === undefined ? '' : `${String(unitMultiplier)}_`}${unit.toLowerCase()}`;
}

const shorten = (code: Code): string => (code === 'OK' ? 'OK' : 'OVER');

function headersOf(answer: Answer | undefined): string {
  if (answer?.kind !== 'decision') return 'none';
  const { responseHeaders = [] } = answer;
  return responseHeaders.map(({ key, value }) => `${key}: ${value}`).join(', ') || 'none';
}
