/** One descriptor: its entries in order. */
export type Descriptor = readonly { readonly key: string; readonly value: string }[];

/** What the decision service says of one request. */
export interface Verdict {
  readonly isOver: boolean;
  /** Requests per window of the limit that was hit; undefined when it was not told. */
  readonly limit: number | undefined;
  /** The largest time until a window of a limit that was hit ends. */
  readonly resetSeconds: number | undefined;
}

/** How the identity service asks for decisions: in process, by gRPC or by `POST /json` (behaviour.md §7.7). */
export interface Decisions {
  /** Counts one hit. Rejects when there is no decision to be had, within its time-out. */
  ask(descriptor: Descriptor): Promise<Verdict>;
  close(): Promise<void>;
}

/** The domain of the rules that protect this service. */
export const DOMAIN = 'identity';

/** A status as all adapters see it. */
export interface LimitStatus {
  readonly isOver: boolean;
  readonly limit: number | undefined;
  readonly resetSeconds: number | undefined;
}

/** The overall code decides, since shadow mode turns it to OK; of the statuses that are over the one that lasts longest counts. */
export function toVerdict(isOver: boolean, statuses: readonly LimitStatus[]): Verdict {
  const reset = ({ resetSeconds = 0 }: LimitStatus): number => resetSeconds;
  const [longest] = statuses
    .filter((status) => status.isOver)
    .toSorted((left, right) => reset(right) - reset(left));
  return { isOver, limit: longest?.limit, resetSeconds: longest?.resetSeconds };
}
