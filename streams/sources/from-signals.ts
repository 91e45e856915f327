import { fromEvent, map, merge, type Observable } from 'rxjs';

/** Emits the name of each of these signals; while subscribed they do not end the process by themselves. */
export function fromSignals<Name extends string>(
  source: NodeJS.EventEmitter,
  names: readonly Name[],
): Observable<Name> {
  return merge(...names.map((name) => fromEvent(source, name).pipe(map(() => name))));
}
