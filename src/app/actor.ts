import { lastValueFrom, merge, tap, type Observable } from 'rxjs';

/** A part of a service with a life of its own. Each also offers a small port for the others. */
export interface Actor {
  /** Its work. Completes after `close`, errors when it gave up. */
  readonly run$: Observable<unknown>;
  /** Refuses new questions, answers pending ones, completes `run$`. */
  readonly close: () => unknown;
}

/** Runs actors, subscribing in this order. Settles when all have ended, rejects when one of them gave up. */
export async function runAll(actors: readonly Pick<Actor, 'run$'>[]): Promise<void> {
  await runToCompletion(merge(...actors.map(({ run$ }) => run$)));
}

/** Runs a stream for its effects; settles when it ends. */
export function runToCompletion(stream$: Observable<unknown>): Promise<unknown> {
  return lastValueFrom(stream$, { defaultValue: undefined });
}

/** The same stream, and a promise of the end of its first run, however it ends. */
export function withEnd<T>(stream$: Observable<T>) {
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { run$: stream$.pipe(tap({ finalize: end })), ended };
}
