import {
  BUDGET_FIGURES,
  FIGURES,
  type BudgetFigure,
  type Figure,
  type Figures,
} from '../core/decision/figures';
import { NAMES } from './names';

type Labels = readonly (readonly [name: string, value: string])[];

/** What all series of one group have in common. Their paths begin with the domain: `shop.user_ann`. */
export interface SeriesGroup {
  readonly id: GroupId;
  /** The names of the figures of a series; no other group has the same. */
  readonly figures: readonly string[];
  /** The dotted name of a figure. Groups whose names have a common prefix share this function. */
  readonly nameOf: (path: string, figure: string) => string;
  /** The labels of a path, as many as dashboards of the reference read; undefined where it is too short for them. */
  readonly labelsOf: (path: string) => Labels | undefined;
  /** The path of the series that sums those without room. */
  readonly overflowOf: (path: string) => string;
}

/** `counters` are those that code names; requests create all others. */
export type GroupId = 'counters' | 'rules' | 'unknownDomains' | 'unmatched' | BudgetFigure;

/** The last segment of the path of a series that sums those without room. */
const OVERFLOW = 'overflow';

const nameOfRule = (path: string, figure: string) => `${NAMES.rules}.${path}.${figure}`;

/** The surplus of each domain of the rules stays with it, so that sums over a domain stay right. */
function overflowOfDomain(path: string): string {
  const end = path.indexOf('.');
  return end < 0 ? OVERFLOW : `${path.slice(0, end)}.${OVERFLOW}`;
}

/** Levels below the second are omitted, so that a backend sums them. */
function labelsOfRule(path: string): Labels | undefined {
  const [domain = '', key1, key2 = ''] = path.split('.', 3);
  if (key1 === undefined) return undefined;
  return [
    ['domain', domain],
    ['key1', key1],
    ['key2', key2],
  ];
}

/** Precedes the name of a limit at the end of a path. */
const LIMIT = '.limit_';

function labelsOfLimit(path: string): Labels | undefined {
  const end = path.lastIndexOf('.');
  const rule = path.startsWith(LIMIT, end) ? labelsOfRule(path.slice(0, end)) : undefined;
  return rule && [...rule, ['limit', path.slice(end + LIMIT.length)]];
}

const ofRules = { nameOf: nameOfRule, labelsOf: labelsOfRule, overflowOf: overflowOfDomain };
const ofDomains = {
  labelsOf: (domain: string): Labels => [['domain', domain]],
  overflowOf: () => OVERFLOW,
};
const ofCode = {
  nameOf: (name: string) => name,
  labelsOf: () => undefined,
  overflowOf: () => OVERFLOW,
};
const ofLimits = {
  nameOf: (path: string) => nameOfRule(path, 'over_limit'),
  labelsOf: labelsOfLimit,
  // Different from that of rules, whose statistic has the same word.
  overflowOf: (path: string) => `${overflowOfDomain(path)}${LIMIT}${OVERFLOW}`,
};
const nameOfUnmatched = (domain: string) => `${NAMES.unmatched}.${domain}`;

const BUDGETS = BUDGET_FIGURES.map(([id, stat]) => [id, { id, figures: [stat], ...ofRules }]);

export const GROUPS: Readonly<Record<GroupId, SeriesGroup>> = {
  ...(Object.fromEntries(BUDGETS) as Record<BudgetFigure, SeriesGroup>),
  overOneLimit: { id: 'overOneLimit', figures: ['over_one_limit'], ...ofLimits },
  counters: { id: 'counters', figures: ['count'], ...ofCode },
  rules: { id: 'rules', figures: FIGURES.map(([, stat]) => stat), ...ofRules },
  unknownDomains: {
    id: 'unknownDomains',
    figures: ['domain_not_found'],
    nameOf: nameOfRule,
    ...ofDomains,
  },
  unmatched: { id: 'unmatched', figures: ['unmatched'], nameOf: nameOfUnmatched, ...ofDomains },
};

/** A total that only grows, exact to 2^53. A class, so that a hundred thousand of them stay small. */
export class Counter {
  value = 0;
  /** The part that a push output has written; the rest is the next difference. */
  flushedValue = 0;

  add(by: number): void {
    this.value += by;
  }
}

/** Counters of one rule or domain, which requests can create any number of; or one that code names. */
export interface Series {
  readonly group: SeriesGroup;
  /** Its place among those of its group: `shop.user_ann`, or the name that code gave. */
  readonly path: string;
  /** The counter of `group.figures[index]`; undefined until it counts. */
  at(index: number): Counter | undefined;
  /** Adds to this counter. */
  grow(index: number, by: number): void;
  /** Whether it counted since the last call. */
  changedSinceLastCheck(): boolean;
}

/** The counters of one metric key; one is created by its first count. Fields, since there may be a hundred thousand. */
export class RuleSeries implements Series, Record<Figure, Counter | undefined> {
  readonly path: string;
  readonly group = GROUPS.rules;
  totalHits: Counter | undefined;
  totalNegativeHits: Counter | undefined;
  overLimit: Counter | undefined;
  nearLimit: Counter | undefined;
  withinLimit: Counter | undefined;
  shadowMode: Counter | undefined;
  overLimitWithLocalCache: Counter | undefined;
  #seen = 0;

  constructor(path: string) {
    this.path = path;
  }

  add(hits: Figures): void {
    this.totalHits = grown(this.totalHits, hits.totalHits);
    this.totalNegativeHits = grown(this.totalNegativeHits, hits.totalNegativeHits);
    this.overLimit = grown(this.overLimit, hits.overLimit);
    this.nearLimit = grown(this.nearLimit, hits.nearLimit);
    this.withinLimit = grown(this.withinLimit, hits.withinLimit);
    this.shadowMode = grown(this.shadowMode, hits.shadowMode);
    this.overLimitWithLocalCache = grown(
      this.overLimitWithLocalCache,
      hits.overLimitWithLocalCache,
    );
  }

  at(index: number): Counter | undefined {
    const figure = FIGURES[index]?.[0];
    return figure && this[figure];
  }

  grow(index: number, by: number): void {
    const figure = FIGURES[index]?.[0];
    if (figure !== undefined) this[figure] = grown(this[figure], by);
  }

  /** Every count of a rule is a hit too, added or refunded. */
  changedSinceLastCheck(): boolean {
    const hits = (this.totalHits?.value ?? 0) + (this.totalNegativeHits?.value ?? 0);
    const changed = hits !== this.#seen;
    this.#seen = hits;
    return changed;
  }
}

/** A series of one figure. */
export class FigureSeries implements Series {
  readonly path: string;
  readonly group: SeriesGroup;
  readonly counter = new Counter();
  #seen = 0;

  constructor(group: SeriesGroup, path: string) {
    this.path = path;
    this.group = group;
  }

  add(by: number): void {
    this.counter.add(by);
  }

  at(index: number): Counter | undefined {
    return index === 0 ? this.counter : undefined;
  }

  grow(_index: number, by: number): void {
    this.counter.add(by);
  }

  changedSinceLastCheck(): boolean {
    const changed = this.counter.value !== this.#seen;
    this.#seen = this.counter.value;
    return changed;
  }
}

/** Whether an output has written all its counts. */
export function isFlushed(series: Series): boolean {
  return series.group.figures.every((_, index) => {
    const counter = series.at(index);
    return counter === undefined || counter.flushedValue === counter.value;
  });
}

function grown(counter: Counter | undefined, by: number): Counter | undefined {
  if (by === 0) return counter;
  const one = counter ?? new Counter();
  one.add(by);
  return one;
}
