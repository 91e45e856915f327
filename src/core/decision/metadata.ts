import type { DecisionRequest, Json, JsonObject, RequestDescriptor } from '../model';
import type { Verdict } from './verdict';

/**
 * The `dynamic_metadata` of one request (behaviour.md §2.10): what was asked, and the metadata of the
 * rules that passed, merged in the order of the descriptors; the first value of a name stays.
 */
export function dynamicMetadata(
  request: DecisionRequest,
  verdicts: readonly (Verdict | undefined)[],
): JsonObject {
  const merged: Record<string, Json> = {};
  for (const verdict of verdicts) {
    if (verdict?.metadata === undefined || verdict.status.code !== 'OK') continue;
    for (const [name, value] of Object.entries(verdict.metadata)) {
      if (!Object.hasOwn(merged, name)) merged[name] = value;
    }
  }
  return {
    domain: request.domain,
    descriptors: request.descriptors.map(describe),
    ...(request.hitsAddend === 0 ? {} : { hitsAddend: request.hitsAddend }),
    ...(Object.keys(merged).length === 0 ? {} : { metadata: merged }),
  };
}

function describe({ entries, hits }: RequestDescriptor): JsonObject {
  return {
    entries: entries.map(({ key, value }) => `${key}=${value}`),
    ...(hits === undefined ? {} : { hitsAddend: Number(hits) }),
  };
}
