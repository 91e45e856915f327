import { EventEmitter } from 'node:events';
import { fromSignals } from '../../../streams';

it('emits the names of the signals that come, and listens no longer than it is subscribed to', () => {
  const source = new EventEmitter();
  const seen: string[] = [];
  const subscription = fromSignals(source, ['SIGTERM', 'SIGHUP']).subscribe((name) => {
    seen.push(name);
  });
  for (const name of ['SIGHUP', 'SIGUSR1', 'SIGTERM']) source.emit(name);
  expect(seen).toEqual(['SIGHUP', 'SIGTERM']);
  subscription.unsubscribe();
  expect(source.eventNames()).toEqual([]);
});
