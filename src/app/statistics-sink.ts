import type { Observable } from 'rxjs';

/** Where statistics go; `run$` ends after `close` and a last flush. */
export interface StatisticsSink {
  readonly run$: Observable<unknown>;
  close(): void;
}
