import type { HealthStatus, Snapshot } from '../../streams';
import type { LoadResult } from '../config/load-result';
import { isError, problemText } from '../core/rules/parse/problem';
import type { Rules } from '../core/rules/rules';
import type { LogFields } from '../platform/logger/logger';
import type { CounterStore } from './choose-counters';
import { createOpenOutages } from './open-outages';
import type { OutageLog } from './outage-log';

/** One thing that is wrong now, for people. */
export interface Trouble {
  /** `calls`, `counters`, `rules`, … */
  readonly name: string;
  readonly text: string;
  readonly details: readonly string[];
  readonly lastedMs: number;
}

/** Gathers what is wrong now from all parts of the service; the dashboard asks for the list. */
export interface Troubles {
  readonly loaded: (load: LoadResult<Rules>) => void;
  readonly connected: (isConnected: boolean) => void;
  readonly checked: (status: HealthStatus<string>) => void;
  readonly list: () => readonly Trouble[];
}

export interface TroublesDeps {
  readonly outages: Pick<OutageLog, 'open'>;
  readonly rules: Pick<Snapshot<Rules | undefined>, 'current'>;
  readonly store: Pick<CounterStore, 'description' | 'whyAway'>;
  /** The names of all health components. */
  readonly components: readonly string[];
  readonly monotonicMs: () => number;
}

/** Problems of one load that are shown; the log has all. */
const MAX_PROBLEMS = 3;
const MAX_TEXT = 400;
const NO_RULES = 'no rules';
const CONNECTION = 'connection';

const HEALTH_TEXTS: Readonly<Record<string, string>> = {
  start: 'starting: the rules or a store have not answered yet',
  termination: 'stopping',
};

export function createTroubles(deps: TroublesDeps): Troubles {
  const { outages, rules, store, components, monotonicMs } = deps;
  const others = createOpenOutages<string>(monotonicMs, { quietMs: 0, maxOpen: 64 });
  let problems: readonly string[] = [];
  others.failed(NO_RULES, '');

  const detailsOf = (name: string, reason: string): readonly string[] => {
    if (name === 'rules') return problems;
    return reason === '' ? [] : [cut(reason)];
  };
  const textOf = (name: string, status: string): string => {
    if (name === CONNECTION) return `${store.description} is not connected`;
    if (name === NO_RULES)
      return rules.current === undefined
        ? 'No rules are loaded: every call is answered with an error'
        : 'The rules contain no domain: every call is answered OK';
    return `The health check fails: ${status}`;
  };

  return {
    loaded(load) {
      problems = load.ok ? [] : problemTexts(load);
      if ((rules.current?.domains.size ?? 0) > 0) others.worked(NO_RULES);
      else others.failed(NO_RULES, '');
    },
    connected(isConnected) {
      if (isConnected) others.worked(CONNECTION);
      else others.failed(CONNECTION, '');
    },
    checked({ down }) {
      for (const name of components) {
        if (down.includes(name))
          others.failed(`health ${name}`, HEALTH_TEXTS[name] ?? `component ${name} is down`);
        else others.worked(`health ${name}`);
      }
    },
    list: () => [
      ...outages.open().map(({ name, reason: { lines, fields }, lastedMs }) => {
        const text = capitalised(lines.failing);
        return { name, text, details: detailsOf(name, reasonOf(fields)), lastedMs };
      }),
      ...others.list().map(({ name, reason, lastedMs }) => {
        const details = name === CONNECTION ? detailsOf(name, store.whyAway() ?? '') : [];
        return { name, text: textOf(name, reason), details, lastedMs };
      }),
    ],
  };
}

/** Why, with the store; its address stands in the reason too. */
function reasonOf({ store, reason }: LogFields): string {
  const why = typeof reason === 'string' ? reason : '';
  if (typeof store !== 'string') return why;
  const [address = ''] = why.split(': ', 1);
  return `${store}: ${store.endsWith(address) ? why.slice(address.length + 2) : why}`;
}

function problemTexts({ problems }: LoadResult<Rules>): readonly string[] {
  const errors = problems.filter(isError);
  const shown = errors.slice(0, MAX_PROBLEMS).map((problem) => cut(problemText(problem)));
  const more = errors.length - shown.length;
  return more > 0 ? [...shown, `and ${String(more)} more, see the log`] : shown;
}

function cut(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}…`;
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
