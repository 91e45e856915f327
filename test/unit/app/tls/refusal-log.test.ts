import { createRefusalLog } from '../../../../src/app/tls/certificates';
import { createRecordingLogger } from '../../../support/recording-logger';

it('counts every refusal and warns of one in ten seconds, with the number of those untold', () => {
  const { logger, lines } = createRecordingLogger();
  let counted = 0;
  let now = 0;
  const refused = createRefusalLog({
    statistics: { count: (_name, by) => (counted += by) },
    logger,
    monotonicMs: () => now,
  });
  for (now of [0, 1, 9_999, 10_000]) refused({ peer: '10.0.0.1', reason: 'no' });
  expect(counted).toBe(4);
  expect(lines.map(({ level, fields }) => [level, fields['othersBefore']])).toEqual([
    ['warn', 0],
    ['debug', undefined],
    ['debug', undefined],
    ['warn', 2],
  ]);
});
