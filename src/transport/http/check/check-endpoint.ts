import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Snapshot } from '../../../../streams';
import type { PolicyOptions } from '../../../core/decision/policy-headers';
import { failure } from '../../../core/errors';
import type { CallTracer, PendingRequest, Statistics } from '../../../core/ports';
import type { CheckSet } from '../../../request-maps/check/check';
import { refusal, refuse, type Refusal } from '../../responses';
import { headersOf } from '../call-headers';
import { CallFacts } from './call-facts';
import { createCallKinds } from './call-kinds';
import { CheckCall, type AskedCheck, type CheckQuestion } from './check-call';
import { CheckCounts } from './check-counts';
import { toRequest } from './check-request';
import { createProxyWarnings, type WarnOfProxy } from './proxy-warnings';

export interface CheckDeps {
  /** Undefined before the first good load. */
  readonly checks: Snapshot<CheckSet | undefined>;
  /** What answers say of limits. */
  readonly policies: PolicyOptions;
  /** Of a value, MAX_VALUE_BYTES. */
  readonly maxValueBytes: number;
  readonly ask: (pending: PendingRequest) => void;
  /** Whether connections hold more than they may, so that nothing new is decided. */
  readonly isOverloaded: () => boolean;
  readonly statistics: Pick<Statistics, 'count'>;
  readonly tracer: CallTracer | undefined;
  readonly warn: WarnOfProxy;
}

/** `/check`, `/check/<name>`, `/quota` and `/quota/<name>`: forward auth and its like, whatever the method and the query. */
export function createCheckEndpoint(deps: CheckDeps) {
  const { checks, maxValueBytes, ask, isOverloaded, tracer, policies } = deps;
  const counts = new CheckCounts(deps.statistics);
  const warnings = createProxyWarnings(deps.warn);
  const kindOf = createCallKinds();
  const policiesOf: Readonly<Record<CheckQuestion, PolicyOptions>> = {
    check: policies,
    quota: { ...policies, policies: 'all' },
  };

  /** Why a proxy is not believed, or not set up; undefined when nothing is amiss. */
  const findAmiss = (facts: CallFacts, asked: AskedCheck): string | undefined => {
    if (asked.check.proxy === undefined) return undefined;
    if (!facts.isTrusted) {
      counts.count('untrusted');
      warnings.untrusted(facts, asked);
      return undefined;
    }
    const header = facts.findAmiss();
    if (header === undefined) return undefined;
    warnings.amiss(header, asked);
    return `the proxy ${asked.check.proxy} must send the header ${header}`;
  };
  const decide = (request: IncomingMessage, response: ServerResponse, asked: AskedCheck): void => {
    const { check, question } = asked;
    const call = new CheckCall(response, asked, counts);
    if (isOverloaded()) {
      call.fail(OVERLOADED);
      return;
    }
    const facts = new CallFacts(request, check);
    const amiss = findAmiss(facts, asked);
    const made =
      amiss === undefined ? toRequest(facts, asked, maxValueBytes) : { malformed: amiss };
    if (made === 'none') {
      call.pass();
      return;
    }
    const trace = tracer?.start(kindOf(check, question, request.method), headersOf(request));
    if ('malformed' in made) {
      trace?.refused(failure('invalid_request', made.malformed));
      call.fail(refusal(400, 'invalid_request', made.malformed));
    } else
      ask({ request: made, responder: call, callId: 0, trace, policies: policiesOf[question] });
  };

  return {
    /** Whether a call is for this endpoint. */
    isFor: ({ url = '' }: IncomingMessage): boolean => PATH.test(url),
    handle(request: IncomingMessage, response: ServerResponse): void {
      const [, question = '', name = ''] = PATH.exec(request.url ?? '') ?? [];
      const set = checks.current;
      const check = set?.checks.get(name);
      if (check !== undefined)
        decide(request, response, { check, name, question: question as CheckQuestion });
      else refuse(response, set === undefined ? NOT_LOADED : unknownName(question, name));
    },
  };
}

const PATH = /^\/(check|quota)(?:\/([^?]+))?(?:\?|$)/;
const OVERLOADED = refusal(503, 'overloaded', 'connections hold more than MAX_HELD_BYTES');
const NOT_LOADED = refusal(503, 'no_rules', 'no file of CHECK_CONFIG was loaded yet, see the log');

function unknownName(question: string, name: string): Refusal {
  const file = name === '' ? '' : `/${name}`;
  const shown = JSON.stringify(`/${question}${file}`.slice(0, 200));
  const expected = 'expected the name of a file in CHECK_CONFIG, or none where that is a file';
  return refusal(404, 'not_found', `no such path ${shown}, ${expected}`);
}
