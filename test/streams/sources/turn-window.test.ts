import { firstValueFrom } from 'rxjs';
import { turnWindow } from '../../../streams';

describe('turnWindow', () => {
  it('of 0 ends after the events that already wait, not before', async () => {
    const order: string[] = [];
    const ended = firstValueFrom(turnWindow(0, () => 0)()).then(() => order.push('window'));
    await Promise.resolve().then(() => order.push('microtask'));
    await ended;
    expect(order).toEqual(['microtask', 'window']);
  });

  it('of less than a timer can measure counts turns until its time is over', async () => {
    let now = 10;
    let looks = 0;
    const clock = () => {
      looks += 1;
      now += 0.0625;
      return now;
    };
    await firstValueFrom(turnWindow(0.25, clock)());
    expect(looks).toBe(5);
  });

  it.each([1, 5])('of %p ms is a timer', (windowMs) => {
    jest.useFakeTimers();
    let ended = false;
    const subscription = turnWindow(windowMs, () => 0)().subscribe(() => (ended = true));
    jest.advanceTimersByTime(windowMs - 1);
    expect(ended).toBe(false);
    jest.advanceTimersByTime(1);
    expect(ended).toBe(true);
    subscription.unsubscribe();
    jest.useRealTimers();
  });

  it.each([0, 0.2])('of %p stops when unsubscribed', async (windowMs) => {
    let ended = false;
    let looks = 0;
    const clock = () => {
      looks += 1;
      return 0;
    };
    const subscription = turnWindow(windowMs, clock)().subscribe(() => (ended = true));
    subscription.unsubscribe();
    const looksBefore = looks;
    await new Promise((resolve) => setImmediate(resolve));
    expect(ended).toBe(false);
    expect(looks).toBe(looksBefore);
  });
});
