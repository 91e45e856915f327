import { ignoreElements, map } from 'rxjs';
import { marbles } from 'rxjs-marbles/jest';
import { createOutages } from '../../../streams';

const REPORTS = { a: 'a began', b: 'b began', c: 'c began', x: 'a ended', y: 'b ended' };

describe('outages', () => {
  it.each([
    // `a` and `b` fail, `A` and `B` work, `x` says that there is no `a` any more, `z` closes.
    ['each on its own', 10, 'a--b--A-B--z', 'a--b----x-y|'],
    ['of more than it may the newest', 1, 'a--b--A-B--z', 'a--b------y|'],
    ['until there is nothing of the name any more', 10, 'a--x-b-B--a-A', 'a----b---ya---x'],
    ['nothing of a name that is not there', 10, 'x-a-A---', '--a---x-'],
    ['a name again after its outage ended', 10, 'a-A---a-A---', 'a---x-a---x-'],
    ['others on when one has ended', 2, 'b-a-A---c-B---z', 'b-a---x-c---y-|'],
    ['until it is closed, ends that wait included', 10, 'a--bAza----', 'a--b-(x|)'],
  ])('follows %s', (_what, maxOpen, calls, expected) => {
    marbles((m) => {
      const outages = createOutages<string>(
        {
          everyMs: 50,
          changeMs: 5,
          quietMs: 2,
          isSame: (a, b) => a === b,
          now: () => 0,
        },
        maxOpen,
      );
      const calls$ = m.hot<string>(calls).pipe(
        map((call) => {
          const name = call.toLowerCase();
          if (call === 'z') outages.close();
          else if (call === 'x') outages.removed('a');
          else if (call === name) outages.failed(name, name, 1);
          else outages.succeeded(name);
        }),
        ignoreElements(),
      );
      const reports$ = outages.reports$.pipe(map(({ kind, reason }) => `${reason} ${kind}`));
      m.expect(reports$).toBeObservable(expected, REPORTS);
      m.expect(calls$).toBeObservable('-');
    })();
  });
});

/** With fake timers: what `createOutages` lists, by the same clock as its reports. */
function listing(maxOpen = 3) {
  const outages = createOutages<string>(
    {
      everyMs: 60_000,
      changeMs: 5_000,
      quietMs: 2_000,
      isSame: (a, b) => a === b,
      now: () => jest.now(),
    },
    maxOpen,
  );
  outages.reports$.subscribe();
  return outages;
}

describe('the list of outages', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('has what fails with its latest reason and since when', () => {
    const outages = listing();
    outages.failed('calls', 'refused', 1);
    jest.advanceTimersByTime(5_000);
    outages.failed('calls', 'no answer', 1);
    expect(outages.list()).toEqual([{ name: 'calls', reason: 'no answer', lastedMs: 5_000 }]);
  });

  it('takes what comes and goes within the quiet time for one outage', () => {
    const outages = listing();
    outages.failed('calls', 'refused', 1);
    outages.succeeded('calls');
    jest.advanceTimersByTime(1_999);
    outages.failed('calls', 'refused', 1);
    jest.advanceTimersByTime(1_000);
    expect(outages.list()).toMatchObject([{ lastedMs: 2_999 }]);
    outages.succeeded('calls');
    jest.advanceTimersByTime(2_000);
    outages.failed('calls', 'refused', 1);
    expect(outages.list()).toMatchObject([{ lastedMs: 0 }]);
  });

  it('forgets what has worked for the quiet time, whatever else works', () => {
    const outages = listing();
    outages.succeeded('calls');
    outages.failed('calls', 'refused', 1);
    outages.succeeded('rules');
    outages.succeeded('calls');
    jest.advanceTimersByTime(1_000);
    outages.succeeded('calls');
    expect(outages.list()).toHaveLength(1);
    jest.advanceTimersByTime(1_000);
    expect(outages.list()).toEqual([]);
  });

  it('is right at its time, also before the timer of the report has run', () => {
    const outages = listing();
    outages.failed('calls', 'refused', 1);
    outages.succeeded('calls');
    jest.setSystemTime(jest.now() + 2_000);
    expect(outages.list()).toEqual([]);
  });

  it('has so many at most and forgets the oldest', () => {
    const outages = listing();
    for (const name of ['a', 'b', 'c', 'd']) outages.failed(name, '', 1);
    expect(outages.list().map(({ name }) => name)).toEqual(['b', 'c', 'd']);
  });
});
