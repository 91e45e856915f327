import { tap, type Observable } from 'rxjs';
import { createMailbox, createSnapshot } from '../../../../streams';
import { OperatorError } from '../../process/run-process';
import type { CallAddresses } from '../../process/open-ports';

/** Tracks which workers listen, from the start of the service to its end. */
export function createListening(workers: number) {
  const listening = new Map<number, CallAddresses>();
  const serves = createSnapshot(false);
  const failures = createMailbox<OperatorError>();
  let haveAllListened = false;
  let resolve: (addresses: CallAddresses) => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const opened = new Promise<CallAddresses>((onOpen, onFail) => {
    resolve = onOpen;
    reject = onFail;
  });
  // It may fail before anything awaits it.
  opened.catch(() => undefined);

  const update = (): void => {
    haveAllListened ||= listening.size === workers;
    const [addresses] = listening.values();
    if (haveAllListened && addresses !== undefined) resolve(addresses);
    const isServed = haveAllListened && listening.size > 0;
    if (isServed !== serves.current) serves.set(isServed);
  };
  return {
    /** True from when all workers have listened, while one of them does. */
    serves,
    /** The addresses once all of them listen; rejects with every reason why they cannot. */
    opened,
    /** Errors when workers that had listened can no longer work, and neither could others in their place. */
    failed$: failures.messages$.pipe(
      tap((error) => {
        throw error;
      }),
    ) as Observable<never>,
    count: () => listening.size,
    listens(worker: number, addresses: CallAddresses) {
      listening.set(worker, addresses);
      update();
    },
    ended(worker: number) {
      listening.delete(worker);
      update();
    },
    /** A worker cannot work: the start fails, or `failed$` does. */
    fail(problems: readonly string[]) {
      if (haveAllListened) failures.post(new OperatorError(problems.join('\n')));
      else reject(new AggregateError(problems.map((problem) => new OperatorError(problem))));
    },
    close() {
      serves.close();
    },
  };
}
