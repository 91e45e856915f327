import { createStoreErrorLog } from '../../../src/app/create-store-error-log';
import { StoreError } from '../../../src/core/errors';
import { createRecordingLogger } from '../../support/recording-logger';

it('warns of one error in ten seconds, with the reason and the number of those left out', () => {
  const { logger, lines } = createRecordingLogger();
  let nowMs = 0;
  const hear = createStoreErrorLog({ logger, monotonicMs: () => nowMs });
  const error = new StoreError('store_unavailable', 'redis 10.0.0.5:6379 answered: OOM');
  for (nowMs of [0, 1, 9_999, 10_000]) hear(error);
  const { code, message: reason } = error;
  expect(lines).toEqual(
    [0, 2].map((othersBefore) => ({
      level: 'warn',
      message: 'counters could not be counted',
      fields: { code, reason, othersBefore },
    })),
  );
});

it('leaves an open breaker to its own lines', () => {
  const { logger, lines } = createRecordingLogger();
  const hear = createStoreErrorLog({ logger, monotonicMs: () => 0 });
  hear(new StoreError('store_unavailable', 'not asked', { fault: 'breaker' }));
  expect(lines).toEqual([]);
});
