import { lastValueFrom } from 'rxjs';
import { inSlices } from '../../../streams';

describe('inSlices', () => {
  it('emits what the work returns', async () => {
    const work = function* () {
      yield;
      yield;
      return 'done';
    };
    expect(await lastValueFrom(inSlices(work))).toBe('done');
  });

  it('lets others have their turn between two slices', async () => {
    const order: string[] = [];
    const work = function* () {
      for (const slice of ['first', 'second']) {
        order.push(slice);
        setImmediate(() => order.push(`after ${slice}`));
        yield;
      }
    };
    await lastValueFrom(inSlices(work));
    expect(order).toEqual(['first', 'after first', 'second', 'after second']);
  });

  it('passes on what the work throws', async () => {
    const work = function* () {
      yield;
      throw new Error('broken');
    };
    await expect(lastValueFrom(inSlices(work))).rejects.toThrow('broken');
  });

  it('goes no further after teardown', async () => {
    let slices = 0;
    const work = function* () {
      for (;;) {
        slices += 1;
        yield;
      }
    };
    const running = inSlices(work).subscribe();
    await new Promise(setImmediate);
    running.unsubscribe();
    const atTeardown = slices;
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    expect(atTeardown).toBeGreaterThan(0);
    expect(slices).toBe(atTeardown);
  });
});
