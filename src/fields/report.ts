import { problemText, type Place, type RuleProblem } from './problem';

/** Classes of mistakes (stable; the first fourteen are those of the recorded vectors). */
export type ErrorClass =
  | 'yaml-syntax'
  | 'empty-domain'
  | 'duplicate-domain'
  | 'unknown-key'
  | 'non-string-key'
  | 'empty-key'
  | 'duplicate-descriptor'
  | 'bad-unit'
  | 'unit-beside-unlimited'
  | 'empty-replaces'
  | 'self-replaces'
  | 'share-threshold-without-star'
  | 'list-of-non-maps'
  | 'wrong-type'
  | 'missing-requests-per-unit'
  | 'empty-rate-limit'
  | 'invalid-encoding'
  | 'bad-alias'
  | 'bad-merge'
  | 'too-many-aliases'
  | 'too-deep'
  | 'bad-on-store-error'
  | 'bad-algorithm'
  | 'burst-without-gcra'
  | 'bad-burst'
  | 'limit-too-large'
  | 'period-too-long'
  | 'algorithm-beside-unlimited'
  | 'bad-multiplier'
  | 'calendar-unit'
  | 'calendar-needs-fixed'
  | 'bad-time-zone'
  | 'bad-month-start'
  | 'bad-week-start'
  | 'store-without-algorithms'
  | 'bad-limits-from'
  | 'store-without-hashes'
  | 'bad-hash-value'
  | 'bad-value-hash'
  | 'value-beside-value-hash'
  | 'bad-map'
  | 'no-secret-keys'
  | 'limit-beside-limits'
  | 'bad-limits'
  | 'unlimited-in-limits'
  | 'same-limit'
  | 'same-limit-name'
  | 'bad-in-flight'
  | 'bad-duration'
  | 'bad-unsettled'
  | 'charge-denied-beside-reserve'
  | 'reservation-key'
  | 'missing-for'
  | 'bad-after'
  | 'up-to-below-for'
  | 'block-beside-block'
  | 'bad-charge'
  | 'leased-beside'
  | 'different-charge'
  | 'empty-reserve'
  | 'empty-block'
  | 'bad-overlay'
  | 'overlay-conflict';

/** Classes of remarks: accepted, but without effect or probably not intended. */
export type WarningClass =
  | 'client-header'
  | 'misplaced-key'
  | 'duplicate-key'
  | 'idle-key'
  | 'star-in-key'
  | 'regular-expression'
  | 'no-limit'
  | 'replaces-nothing'
  | 'extra-document'
  | 'unknown-tag'
  | 'yaml-remark'
  | 'hash-mixed'
  | 'secret-in-file'
  | 'unknown-secret-key'
  | 'overlay-refused'
  | 'idle-overlay';

export type SourceNoun = 'file' | 'resource';

/** Adds the problems of `file` to `problems`. A problem in an aliased node is reported once, where it is written. */
export function createReport(file: string, problems: RuleProblem[], noun: SourceNoun = 'file') {
  const seen = new Set<string>();
  const add = (problem: RuleProblem) => {
    const identity = problemText(problem);
    if (seen.has(identity)) return;
    seen.add(identity);
    problems.push(problem);
  };
  return {
    file,
    /** Its name in messages. */
    noun,
    error(at: Place, problem: ErrorClass, message: string) {
      add({ severity: 'error', class: problem, file, at, message });
    },
    warning(at: Place, problem: WarningClass, message: string) {
      add({ severity: 'warning', class: problem, file, at, message });
    },
  };
}

/** Collects the problems of one file or resource. */
export type Report = ReturnType<typeof createReport>;
