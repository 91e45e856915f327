import { BUDGET_FIGURES, FIGURES, type BudgetFigure } from '../core/decision/figures';
import { NAMES } from './names';

export type Labels = readonly (readonly [name: string, value: string])[];

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
