import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Snapshot } from '../../../../streams';
import type { PolicyOptions } from '../../../core/decision/policy-headers';
import { failure } from '../../../core/errors';
import type { CallTracer, PendingRequest, Statistics, CallKind } from '../../../core/ports';
import { type CheckSet, type Check, WORDS } from '../../../request-maps/check';
import { refusal, refuse, type Refusal } from '../../responses';
import { headersOf } from '../call-headers';
import { CallFacts } from './call-facts';
import {
  CheckCall,
  type AskedCheck,
  type CheckQuestion,
  statusOf,
  CheckCounts,
} from './check-call';
import type { DecisionRequest, RequestDescriptor } from '../../../core/model';
import {
  isLonger,
  makeDescriptorsOfClient,
  MAX_PATTERN_BYTES,
  TOO_LONG,
} from '../../../request-maps/make-descriptors';

export interface CheckDeps {
  /** Undefined before the first successful load. */
  readonly checks: Snapshot<CheckSet | undefined>;
  /** Which limits answers report. */
  readonly policies: PolicyOptions;
  /** For a value: MAX_VALUE_BYTES. */
  readonly maxValueBytes: number;
  readonly ask: (pending: PendingRequest) => void;
  /** Whether connections exceed their memory, so that nothing new is decided. */
  readonly isOverloaded: () => boolean;
  readonly statistics: Pick<Statistics, 'count'>;
  readonly tracer: CallTracer | undefined;
  readonly warn: WarnOfProxy;
}

/** `/check`, `/check/<name>`, `/quota` and `/quota/<name>`: forward auth and similar, with any method and query. */
export function createCheckEndpoint(deps: CheckDeps) {
  const { checks, maxValueBytes, ask, isOverloaded, tracer, policies } = deps;
  const counts = new CheckCounts(deps.statistics);
  const warnings = createProxyWarnings(deps.warn);
  const kindOf = createCallKinds();
  const policiesOf: Readonly<Record<CheckQuestion, PolicyOptions>> = {
    check: policies,
    quota: { ...policies, policies: 'all' },
  };

  /** Why a call is refused; undefined when all is right. For a proxy that is not trusted, or not set up, the log has a line. */
  const findAmiss = (facts: CallFacts, asked: AskedCheck): string | undefined => {
    const { proxy } = asked.check;
    const isProxy = proxy !== undefined && facts.isTrusted;
    if (proxy !== undefined && !isProxy) {
      counts.count('untrusted');
      warnings.untrusted(facts, asked);
    }
    const header = facts.findAmiss();
    if (header === undefined) return undefined;
    if (!isProxy) return 'the call names no host, or several: expected one in its header Host';
    warnings.amiss(header, asked);
    return `the proxy ${proxy} must send the header ${header}`;
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
    const made: ReturnType<typeof toRequest> =
      amiss === undefined ? toRequest(facts, asked, maxValueBytes) : { malformed: amiss };
    if (made === 'none') {
      call.pass();
      return;
    }
    const trace = tracer?.start(kindOf(check, question, request.method), headersOf(request));
    if ('malformed' in made) {
      trace?.refused(failure('invalid_request', made.malformed));
      call.refuse(refusal(made.status ?? 400, 'invalid_request', made.malformed));
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

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Calls in the terms of OpenTelemetry's conventions for HTTP; kept as long as their check. */
function createCallKinds() {
  const known = new WeakMap<Check, Map<string, CallKind>>();
  return (check: Check, question: CheckQuestion, given = ''): CallKind => {
    const method = METHODS.includes(given) ? given : '_OTHER';
    const ofCheck = known.get(check) ?? new Map<string, CallKind>();
    known.set(check, ofCheck);
    const name = `${method} /${question}`;
    const kind = ofCheck.get(name) ?? createKind(check, question, method);
    ofCheck.set(name, kind);
    return kind;
  };
}

function createKind(check: Check, question: CheckQuestion, method: string): CallKind {
  const route = `/${question}`;
  return {
    name: `${method === '_OTHER' ? 'HTTP' : method} ${route}`,
    attributes: {
      'http.request.method': method,
      'http.route': route,
      'url.path': route,
      'url.scheme': 'http',
    },
    statusAttribute: 'http.response.status_code',
    statusOf: (answer) => statusOf(answer, check, question),
  };
}

/** Writes a line to the log. */
type WarnOfProxy = (message: string, fields: Readonly<Record<string, string>>) => void;

const UNTRUSTED =
  'a call to /check comes from a peer that is not a trusted proxy, so its forwarding headers are ignored and the peer itself is ' +
  'limited; add its address to trusted_proxies, if it is the proxy';
const AMISS =
  'a call to /check is refused, because its proxy does not send what the check needs; set it up as docs/proxies says';

/** One line per check and kind of mistake: clients could fill the log otherwise. A reloaded check may warn again. */
function createProxyWarnings(warn: WarnOfProxy) {
  const untrusted = new WeakSet<Check>();
  const amiss = new WeakSet<Check>();
  return {
    /** An untrusted peer calls; it matters where it sends the proxy's headers. */
    untrusted(facts: CallFacts, { check, name }: AskedCheck): void {
      if (check.proxy === undefined || untrusted.has(check)) return;
      const header = Object.values(WORDS[check.proxy]).find(
        (each) => each !== undefined && each !== 'host' && facts.header(each) !== undefined,
      );
      if (header === undefined) return;
      untrusted.add(check);
      warn(UNTRUSTED, { check: name, peer: facts.peer, header });
    },
    /** A trusted proxy sends a header wrongly. */
    amiss(header: string, { check, name }: AskedCheck): void {
      if (amiss.has(check)) return;
      amiss.add(check);
      warn(AMISS, { check: name, proxy: check.proxy ?? '', header });
    },
  };
}

/** Why a call is invalid, and its answer. */
interface MalformedCall {
  readonly malformed: string;
  readonly status?: number;
}

/** The request to decide; `none`: its map made no descriptor. */
export function toRequest(
  facts: CallFacts,
  { check, question }: AskedCheck,
  maxValueBytes: number,
): DecisionRequest | MalformedCall | 'none' {
  const isQuota = question === 'quota';
  const descriptors = makeDescriptorsOfClient(check.descriptors, facts, isQuota ? 0 : undefined);
  if (descriptors === TOO_LONG) return { malformed: NO_PATTERN, status: check.tooLongStatus };
  if (descriptors.length === 0) return 'none';
  if (descriptors.some((descriptor) => hasLongValue(descriptor, maxValueBytes)))
    return { malformed: `a value has more bytes than MAX_VALUE_BYTES (${String(maxValueBytes)})` };
  const hitsAddend = isQuota ? 0 : hitsOf(facts, check);
  return { domain: check.domain, descriptors, hitsAddend };
}

const NO_PATTERN = `a value is longer than patterns are run over (${String(MAX_PATTERN_BYTES)} bytes)`;

function hasLongValue({ entries }: RequestDescriptor, maxBytes: number): boolean {
  return entries.some(({ value }) => isLonger(value, maxBytes));
}

const WHOLE = /^[1-9]\d{0,9}$/;
const MAX_HITS = 4_294_967_295;

/** A whole number from 1; anything else is 1. */
function hitsOf(facts: CallFacts, { hitsHeader }: Check): number {
  const header = hitsHeader === undefined ? '' : (facts.header(hitsHeader) ?? '');
  return WHOLE.test(header) && Number(header) <= MAX_HITS ? Number(header) : 1;
}
