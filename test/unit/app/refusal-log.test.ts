import { createRefusalLog } from '../../../src/app/tls/create-refusal-log';

it('counts every refusal and warns of one in ten seconds, with the number of those untold', () => {
  const lines: string[] = [];
  let counted = 0;
  let now = 0;
  const write = (level: string) => (message: string, fields?: object) => {
    lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
  };
  const logger = {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
  };
  const refused = createRefusalLog({
    statistics: { count: (_name, by) => (counted += by) },
    logger,
    monotonicMs: () => now,
  });
  for (now of [0, 1, 9_999, 10_000]) refused({ peer: '10.0.0.1', reason: 'no' });
  expect(counted).toBe(4);
  expect(lines).toEqual([
    'warn refused a gRPC client {"peer":"10.0.0.1","reason":"no","othersBefore":0}',
    'debug refused a gRPC client {"peer":"10.0.0.1","reason":"no"}',
    'debug refused a gRPC client {"peer":"10.0.0.1","reason":"no"}',
    'warn refused a gRPC client {"peer":"10.0.0.1","reason":"no","othersBefore":2}',
  ]);
});
