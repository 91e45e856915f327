import { until, type Steps } from '../../core/steps';
import type { AdminAnswer, AdminEndpoint } from '../../transport/debug/admin/admin-api';
import type { CounterAdmin, ParseJsonRequest } from '../../transport/debug/admin/counter-endpoints';
import { toRefusal } from '../../transport/responses';
import { invalidQuery, listEndpoint, readNumber } from './list-query';

/** IDs of one answer. */
const MOST = 1_000;

/**
 * `GET /api/v1/counters/open?domain=llm&entry=user=ann`: the open reservations of one counter (docs/admin-counters.md); an entry
 * of its descriptor each time, in their order.
 */
export function createOpenEndpoint(
  { open }: Pick<CounterAdmin, 'open'>,
  parse: ParseJsonRequest,
): AdminEndpoint {
  return listEndpoint('counters/open', function* (query): Steps<AdminAnswer> {
    const most = readNumber(query, 'limit', 100, [1, MOST]);
    const entries = query.getAll('entry').map(toEntry);
    if (entries.length === 0) throw invalidQuery('entry is missing, expected entry=key=value');
    const domain = query.get('domain') ?? '';
    const request = parse(JSON.stringify({ domain, descriptors: [{ entries }] }));
    if ('kind' in request) throw invalidQuery(request.message);
    const answer = yield* until(open(request, most));
    return 'kind' in answer ? toRefusal(answer) : { status: 200, body: answer };
  });
}

/** The key ends at the first `=`. */
function toEntry(text: string): { readonly key: string; readonly value: string } {
  const at = text.indexOf('=');
  if (at > 0) return { key: text.slice(0, at), value: text.slice(at + 1) };
  throw invalidQuery(`entry is ${JSON.stringify(text.slice(0, 256))}, expected key=value`);
}
