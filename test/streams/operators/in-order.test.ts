import { Subject } from 'rxjs';
import { inOrder } from '../../../streams';

it('begins the next task when the one before is over, and emits in order', async () => {
  const valuesSubject = new Subject<number>();
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const emitted: number[] = [];
  const over = new Promise<void>((resolve) => {
    valuesSubject
      .pipe(
        inOrder((value) => {
          begun.push(value);
          return new Promise<number>((end) => {
            ends.push(() => {
              end(value * 10);
            });
          });
        }),
      )
      .subscribe({ next: (value) => emitted.push(value), complete: resolve });
  });
  for (const value of [1, 2]) valuesSubject.next(value);
  valuesSubject.complete();
  expect(begun).toEqual([1]);
  ends[0]?.();
  await new Promise(setImmediate);
  expect([begun, emitted]).toEqual([[1, 2], [10]]);
  ends[1]?.();
  await over;
  expect(emitted).toEqual([10, 20]);
});
