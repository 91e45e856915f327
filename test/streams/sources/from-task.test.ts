import { lastValueFrom, toArray } from 'rxjs';
import { fromTask } from '../../../streams';

describe('fromTask', () => {
  it('emits what the task resolves with and completes', async () => {
    const values = await lastValueFrom(fromTask(() => Promise.resolve(7)).pipe(toArray()));
    expect(values).toEqual([7]);
  });

  it('emits nothing when the task resolves with undefined', async () => {
    const values = await lastValueFrom(fromTask(() => Promise.resolve(undefined)).pipe(toArray()));
    expect(values).toHaveLength(0);
  });

  it('runs the task on every subscription, not before', async () => {
    let runs = 0;
    const task$ = fromTask(() => Promise.resolve((runs += 1)));
    expect(runs).toBe(0);
    await lastValueFrom(task$);
    await lastValueFrom(task$);
    expect(runs).toBe(2);
  });

  it('passes a rejection on as an error', async () => {
    const failing$ = fromTask(() => Promise.reject(new Error('broken')));
    await expect(lastValueFrom(failing$)).rejects.toThrow('broken');
  });

  it('aborts the task on teardown and ignores what it does after that', async () => {
    const heard: unknown[] = [];
    let finish: (value: number) => void = () => undefined;
    const seen: AbortSignal[] = [];
    const running = fromTask((signal) => {
      seen.push(signal);
      return new Promise<number>((resolve) => {
        finish = resolve;
      });
    }).subscribe((value) => heard.push(value));
    expect(seen[0]?.aborted).toBe(false);
    running.unsubscribe();
    finish(1);
    await Promise.resolve();
    expect(seen[0]?.aborted).toBe(true);
    expect(heard).toEqual([]);
  });
});
