import { marbles } from 'rxjs-marbles/jest';
import { NEVER, of, throwError, type Observable, type ObservableInput } from 'rxjs';
import { reloadOnChange, type Loaded } from '../../../streams';

const debounce = { quietMs: 2, maxMs: 7 };
const good = (value: string): Loaded<string> => ({ ok: true, value });
const bad = (message: string): Loaded<string> => ({ ok: false, error: new Error(message) });

/** Runs the loads of a list one after the other, the last one again and again. */
const inTurn = (loads: readonly ObservableInput<string>[]) => {
  let next = 0;
  return () => loads[Math.min(next++, loads.length - 1)] as Observable<string>;
};
const reloads = (
  changes$: Observable<unknown>,
  load: () => ObservableInput<string>,
  loadTimeoutMs = 100,
) => reloadOnChange({ changes$, debounce, load, loadTimeoutMs });

describe('reloadOnChange', () => {
  it(
    'loads at once and again after a burst of changes has settled',
    marbles((m) => {
      const changes = m.hot(' ---c-c----c------');
      const expected = '      x------y----z----';
      const load = inTurn([of('x'), of('y'), of('z')]);
      m.expect(reloads(changes, load)).toBeObservable(expected, {
        x: good('x'),
        y: good('y'),
        z: good('z'),
      });
    }),
  );

  it(
    'is not postponed for ever by changes that never end',
    marbles((m) => {
      const changes = m.hot('-cccccccccccccccc---');
      const expected = '     x-------x-------x---';
      m.expect(reloads(changes, () => of('x'))).toBeObservable(expected, { x: good('x') });
    }),
  );

  it(
    'loads once more after a load during which something changed, never two at once',
    marbles((m) => {
      const changes = m.hot(' -c--c--c--------------');
      const load = m.cold('   ------------(x|)      ');
      const expected = '      ------------x-----------x---';
      m.expect(reloads(changes, () => load)).toBeObservable(expected, { x: good('x') });
      m.expect(load).toHaveSubscriptions(['^-----------!', '------------^-----------!']);
    }),
  );

  it(
    'makes a failed load a value and goes on',
    marbles((m) => {
      const changes = m.hot(' -c------c------c-----');
      const expected = '      x--y------z------x---';
      const load = inTurn([
        of('x'),
        throwError(() => new Error('unreadable')),
        m.cold('#', undefined, 'odd'),
        of('x'),
      ]);
      m.expect(reloads(changes, load)).toBeObservable(expected, {
        x: good('x'),
        y: bad('unreadable'),
        z: bad('odd'),
      });
    }),
  );

  it(
    'makes a load that throws a value',
    marbles((m) => {
      const load = () => {
        throw new Error('broken');
      };
      m.expect(reloads(NEVER, load)).toBeObservable('x', { x: bad('broken') });
    }),
  );

  it(
    'cancels a load that hangs and loads again with the next change',
    marbles((m) => {
      const changes = m.hot(' -----------c------');
      const hung = m.cold('   ------------------');
      const expected = '      --------x----y----';
      const load = inTurn([hung, of('y')]);
      m.expect(reloads(changes, load, 8)).toBeObservable(expected, {
        x: bad('the load took longer than 8 ms'),
        y: good('y'),
      });
      m.expect(hung).toHaveSubscriptions('^-------!');
    }),
  );

  it(
    'says nothing when a load finds nothing new',
    marbles((m) => {
      const changes = m.hot(' -c------c----');
      const expected = '      x---------y--';
      const load = inTurn([of('x'), [], of('y')]);
      m.expect(reloads(changes, load)).toBeObservable(expected, { x: good('x'), y: good('y') });
    }),
  );

  it(
    'stops watching and loading on teardown',
    marbles((m) => {
      const changes = m.hot(' -----');
      const load = m.cold('   -----');
      m.expect(
        reloads(changes, () => load),
        '^--!',
      ).toBeObservable('-----');
      m.expect(changes).toHaveSubscriptions('^--!');
      m.expect(load).toHaveSubscriptions('^--!');
    }),
  );
});
