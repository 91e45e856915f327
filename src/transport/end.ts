import { Observable } from 'rxjs';

/** The end of a listener's life as a stream: emits nothing, completes when it is reached. */
export interface End {
  readonly reached$: Observable<never>;
  reach(): void;
}

export function createEnd(): End {
  const waiting = new Set<() => void>();
  let isReached = false;
  return {
    reached$: new Observable((subscriber) => {
      const complete = () => {
        subscriber.complete();
      };
      if (isReached) complete();
      waiting.add(complete);
      return () => waiting.delete(complete);
    }),
    reach() {
      isReached = true;
      for (const complete of waiting) complete();
    },
  };
}
