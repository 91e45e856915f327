import { NEVER } from 'rxjs';
import { createStopSignal } from '../../../streams';

it('ends the streams that pass through, also those that come after it', () => {
  const signal = createStopSignal();
  const ended: string[] = [];
  const follow = (name: string) =>
    NEVER.pipe(signal.until()).subscribe({ complete: () => ended.push(name) });
  follow('before');
  expect(ended).toEqual([]);
  signal.stop();
  signal.stop();
  follow('after');
  expect(ended).toEqual(['before', 'after']);
});

it('completes its own stream when it stops, also for those who come later', () => {
  const signal = createStopSignal();
  const ended: string[] = [];
  const follow = (name: string) => signal.stopped$.subscribe({ complete: () => ended.push(name) });
  follow('before');
  expect(ended).toEqual([]);
  signal.stop();
  follow('after');
  expect(ended).toEqual(['before', 'after']);
});
