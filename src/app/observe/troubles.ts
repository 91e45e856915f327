import { merge, tap } from 'rxjs';
import { countErrors, isError, problemText } from '../../fields/problem';
import type { LogFields } from '../../platform/logger';
import type { LoadResult } from '../../rule-sources/load-result';
import type { HealthActor } from './health';
import type { RulesActor } from '../rules/rules';
import type { StoreView } from '../store/backend';
import type { OutageLog } from '../outage-log';

export interface TroublesDeps {
  readonly openOutages: OutageLog['open'];
  readonly rules: Pick<RulesActor, 'rules' | 'problems'>;
  readonly health: Pick<HealthActor, 'status' | 'connected' | 'components'>;
  readonly store: Pick<StoreView, 'description' | 'whyAway' | 'misplaced'>;
  readonly monotonicMs: () => number;
}

/** Problems of one load that are shown; the log has more. */
const MAX_PROBLEMS = 3;
const MAX_TEXT = 400;
const NO_RULES = 'no rules';
const CONNECTION = 'connection';
const KIND = 'kind of store';

const HEALTH_TEXTS: Readonly<Record<string, string>> = {
  start: 'starting: waiting for the rules or a store',
  termination: 'stopping',
};

export function createTroubles(deps: TroublesDeps) {
  const { openOutages, rules, health, store, monotonicMs } = deps;
  const others = new Map<string, { readonly reason: string; readonly sinceMs: number }>();
  const note = (isGood: boolean, name: string, reason = ''): void => {
    if (isGood) others.delete(name);
    else others.set(name, { reason, sinceMs: others.get(name)?.sinceMs ?? monotonicMs() });
  };

  const detailsOf = (name: string, reason: string): readonly string[] => {
    if (name === 'rules') return problemTexts(rules.problems());
    return reason === '' ? [] : [cut(reason)];
  };
  const furtherOf = (name: string, reason: string): string => {
    if (name === KIND) return reason;
    return name === CONNECTION ? (store.whyAway() ?? '') : '';
  };
  const textOf = (name: string, status: string): string => {
    if (name === CONNECTION) return `${store.description} is not connected`;
    if (name === KIND)
      return `${store.description} is not the kind of store that the settings name`;
    if (name === NO_RULES)
      return rules.rules.current === undefined
        ? 'No rules are loaded: every call is answered with an error'
        : 'The rules contain no domain: every call is answered OK';
    return `The health check fails: ${status}`;
  };

  const listed = () => [
    ...openOutages().map(({ name, reason: { lines, fields }, lastedMs }) => {
      const text = capitalised(lines.failing);
      return { name, text, details: detailsOf(name, reasonOf(fields)), lastedMs };
    }),
    ...[...others].map(([name, { reason, sinceMs }]) => {
      const details = detailsOf(name, furtherOf(name, reason));
      return { name, text: textOf(name, reason), details, lastedMs: monotonicMs() - sinceMs };
    }),
  ];

  return {
    run$: merge(
      rules.rules.changes$.pipe(
        tap((inForce) => {
          note((inForce?.domains.size ?? 0) > 0, NO_RULES);
        }),
      ),
      health.connected.changes$.pipe(
        tap((isConnected) => {
          note(isConnected, CONNECTION);
        }),
      ),
      health.status.changes$.pipe(
        tap(({ down }) => {
          for (const name of health.components)
            note(
              !down.includes(name),
              `health ${name}`,
              HEALTH_TEXTS[name] ?? `component ${name} is down`,
            );
        }),
      ),
    ),
    /** The current troubles, for people; names are `calls`, `counters`, `rules`, … */
    list: () => {
      const advice = [...store.misplaced()].map(([name, text]) => `${name}: ${text}`);
      // For a store without a connection the reason may contain it already.
      const isSaid = !health.connected.current && store.whyAway() !== undefined;
      note(advice.length === 0 || isSaid, KIND, advice.join('; '));
      return listed();
    },
  };
}

/** Gathers the current troubles of all parts of the service; the dashboard reads the list. */
export type Troubles = ReturnType<typeof createTroubles>;

/** The reason, with the store; an address that the reason repeats is shown once. */
function reasonOf({ store, reason }: LogFields): string {
  const why = typeof reason === 'string' ? reason : '';
  if (typeof store !== 'string') return why;
  const [address = ''] = why.split(': ', 1);
  return `${store}: ${store.endsWith(address) ? why.slice(address.length + 2) : why}`;
}

function problemTexts(load: Pick<LoadResult<unknown>, 'problems' | 'unlisted'>): readonly string[] {
  const errors = load.problems.filter(isError).slice(0, MAX_PROBLEMS);
  const shown = errors.map((problem) => cut(problemText(problem)));
  const more = countErrors(load) - shown.length;
  return more > 0 ? [...shown, `and ${String(more)} more, see the log`] : shown;
}

function cut(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}…`;
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
