import { optional, setting } from './setting';
import {
  oneOfInAnyCase,
  synonyms,
  decimalNumber,
  oneOf,
  path,
  wholeNumber,
} from '../platform/env-table/parsers';
import type { Values } from '../platform/env-table/table';

const LEVELS = {
  trace: 'trace',
  debug: 'debug',
  info: 'info',
  warning: 'warning',
  warn: 'warning',
  error: 'error',
  fatal: 'fatal',
  panic: 'fatal',
} as const;

export const loggingTable = {
  level: setting('LOG_LEVEL', synonyms(LEVELS), 'warning', {
    doc: 'lowest level that is logged: trace, debug, info, warning (warn), error, fatal (panic)',
  }),
  format: setting('LOG_FORMAT', oneOfInAnyCase('text', 'json'), 'text', {
    doc: 'text or json',
  }),
};

export const decisionLogTable = {
  mode: setting('DECISION_LOG', oneOf('off', 'over', 'all'), 'off', {
    doc: 'decisions that are written as JSON lines: off, over (what is over a limit, shadow mode included) or all',
  }),
  sample: setting('DECISION_LOG_SAMPLE', decimalNumber(0, 1), '0.01', {
    doc: 'under all: share of the decisions below their limits that is written; those over a limit always are',
  }),
  file: optional('DECISION_LOG_FILE', path, 'standard output', {
    doc: 'file to which the lines are appended',
  }),
  maxPerSecond: setting('DECISION_LOG_MAX_PER_SECOND', wholeNumber(1, 1_000_000), '100', {
    doc: 'most lines in a second; the others are counted in ratelimit.decisionlog.dropped',
  }),
};

export type DecisionLogSettings = Values<typeof decisionLogTable>;
