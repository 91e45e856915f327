import { createSnapshot } from '../../../streams';

describe('createSnapshot', () => {
  it('can be read at any moment and followed from its present value on', () => {
    const snapshot = createSnapshot(1);
    const seen: number[] = [];
    let done = false;
    snapshot.changes$.subscribe({
      next: (value) => seen.push(value),
      complete: () => (done = true),
    });
    snapshot.set(2);
    expect(snapshot.current).toBe(2);
    snapshot.close();
    expect(seen).toEqual([1, 2]);
    expect(done).toBe(true);
  });
});
