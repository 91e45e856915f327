import { marbles } from 'rxjs-marbles/jest';
import { Subject, type Observable } from 'rxjs';
import { fromWatch } from '../../../streams';

/** A watcher whose changes are a marble stream. */
const follow = (changes$: Observable<string>, changed: (change: string) => void) => {
  const watching = changes$.subscribe(changed);
  return () => {
    watching.unsubscribe();
  };
};

describe('fromWatch', () => {
  it(
    'watches the newest target and closes the watch before it',
    marbles((m) => {
      const first = m.hot('   --1--2--3--');
      const second = m.hot('  -a---b-c--d');
      const targets = m.hot(' x---y------', { x: first, y: second });
      m.expect(fromWatch(targets, follow)).toBeObservable('--1--b-c--d');
      m.expect(first).toHaveSubscriptions(' ^---!');
      m.expect(second).toHaveSubscriptions('----^');
    }),
  );

  it(
    'opens nothing before it is subscribed and closes on teardown',
    marbles((m) => {
      const changes = m.hot(' -1--2--3--');
      const watched = fromWatch(m.cold('-x', { x: changes }), follow);
      m.expect(watched, '     --^--!    ').toBeObservable('----2-----');
      m.expect(changes).toHaveSubscriptions('---^-!');
    }),
  );

  it('opens anew for a second subscriber', () => {
    const opened: string[] = [];
    const targetsSubject = new Subject<string>();
    const watched = fromWatch(targetsSubject, (target) => {
      opened.push(`open ${target}`);
      return () => opened.push(`close ${target}`);
    });
    const one = watched.subscribe();
    const two = watched.subscribe();
    targetsSubject.next('a');
    one.unsubscribe();
    two.unsubscribe();
    expect(opened).toEqual(['open a', 'open a', 'close a', 'close a']);
  });
});
