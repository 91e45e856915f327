import { toText } from '../../../src/cli/response';

const status = (unit: string | number) => ({
  code: 'OK',
  currentLimit: { requestsPerUnit: 3, unit },
  limitRemaining: 2,
});

it('leaves out a period whose unit is newer than this client', () => {
  const answer = { overallCode: 'OK', statuses: [status('MONTH'), status(99)] };
  const asked = ['a', 'b'].map((value) => ({ entries: [{ key: 'k', value }] }));
  expect(toText(answer, asked)).toBe(
    'overall: OK\n  k=a: OK, limit 3 per month, remaining 2\n  k=b: OK, limit 3, remaining 2\n',
  );
});
