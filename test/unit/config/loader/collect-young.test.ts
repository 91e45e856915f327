import { constants, PerformanceObserver } from 'node:perf_hooks';
import { createCollectYoung } from '../../../../src/config/loader/collect-young';

interface GcEntry {
  readonly detail: { readonly kind: number };
}

describe('collecting young objects', () => {
  it('is one minor collection, at once', async () => {
    const kinds = await new Promise<unknown[]>((resolve) => {
      const observer = new PerformanceObserver((list) => {
        observer.disconnect();
        resolve(list.getEntries().map((entry) => (entry as unknown as GcEntry).detail.kind));
      });
      observer.observe({ entryTypes: ['gc'] });
      createCollectYoung()();
    });
    expect(kinds).toContain(constants.NODE_PERFORMANCE_GC_MINOR);
    expect(kinds).not.toContain(constants.NODE_PERFORMANCE_GC_MAJOR);
  });
});
