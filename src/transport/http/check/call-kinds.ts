import type { CallKind } from '../../../core/ports';
import type { Check } from '../../../request-maps/check/check';
import { statusOf, type CheckQuestion } from './check-call';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Calls in the words of OpenTelemetry's conventions for HTTP; kept for as long as their check is. */
export function createCallKinds() {
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
