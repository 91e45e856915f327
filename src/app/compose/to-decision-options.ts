import type { PolicyOptions } from '../../core/decision/policy-headers';
import type { DecisionOptions } from '../../decisions/decide-batch';
import type { ResponseHeaderSettings } from '../../settings/response-headers';
import type { Settings } from '../../settings/settings';

export function toDecisionOptions(settings: Settings): DecisionOptions {
  const { decisions, responseHeaders, storeFailure, backend } = settings;
  const { enabled, limit, remaining, reset } = responseHeaders;
  return {
    ...decisions,
    ...storeFailure,
    headers: enabled ? { limit, remaining, reset } : undefined,
    policies: toPolicyOptions(responseHeaders),
    readFirst: backend === 'memstore',
  };
}

/** Undefined when all of it is off: a decision then costs one comparison more. */
function toPolicyOptions(headers: ResponseHeaderSettings): PolicyOptions | undefined {
  const { policies, retryAfter, near = '', jitterPercent, body } = headers;
  const isOff =
    policies === 'off' && !retryAfter && near === '' && jitterPercent === 0 && body === 'off';
  if (isOff) return undefined;
  return {
    policies,
    retryAfter,
    nearHeader: near,
    jitterPercent,
    problemBody: body !== 'off',
    untypedBody: body === 'untyped-problem',
  };
}

/**
 * The headers of `/check`: the caller is a client or its proxy, so they are sent whatever is set for Envoy, and policies are
 * reduced to the nearest only where the setting says so.
 */
export function toCheckPolicies(headers: ResponseHeaderSettings): PolicyOptions {
  const { policies, near = '', jitterPercent, body } = headers;
  return {
    policies: policies === 'nearest' ? 'nearest' : 'all',
    retryAfter: true,
    nearHeader: near,
    jitterPercent,
    problemBody: body !== 'off',
    figures: true,
  };
}
