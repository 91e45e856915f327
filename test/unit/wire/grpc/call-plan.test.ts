import { createPlanner, READ_NAMES, readNamesWith } from '../../../../src/wire/grpc/call-plan';
import type { HeaderList } from '../../../../src/wire/http2/api';

const METHOD = { requests: 'one' } as const;
const FIELDS = {
  ':method': 'POST',
  ':path': '/a.B/C',
  'content-type': 'application/grpc',
  'grpc-timeout': '20m',
  'grpc-encoding': 'identity',
};

function list(fields: Readonly<Record<string, string>>): HeaderList {
  return { names: Object.keys(fields), values: Object.values(fields), memo: undefined };
}

it('reads what a plan depends on, and what others want besides', () => {
  expect([...readNamesWith(['traceparent', 'grpc-timeout'])]).toEqual([
    ...READ_NAMES,
    'traceparent',
  ]);
});

describe('planning calls from header lists', () => {
  const planner = () => createPlanner(new Map([['/a.B/C', METHOD]]));

  it('gives a list that differs in other fields only the plan of the one before', () => {
    const plan = planner();
    const first = plan(list({ ...FIELDS, traceparent: '00-1' }));
    expect(plan(list({ ...FIELDS, traceparent: '00-2' }))).toBe(first);
  });

  it.each([
    [':method', 'GET'],
    [':path', '/a.B/D'],
    ['content-type', 'text/plain'],
    ['grpc-timeout', '30m'],
    ['grpc-encoding', 'gzip'],
  ])('makes another plan when %s differs', (name, value) => {
    const plan = planner();
    const first = plan(list(FIELDS));
    const other = plan(list({ ...FIELDS, [name]: value }));
    expect(other).not.toEqual(first);
    expect(plan(list(FIELDS))).toEqual(first);
  });

  it('does not take a field that is missing from the list before', () => {
    const plan = planner();
    plan(list(FIELDS));
    const rest = Object.entries(FIELDS).filter(([name]) => name !== 'grpc-timeout');
    expect(plan(list(Object.fromEntries(rest)))).toMatchObject({ timeoutMs: Infinity });
  });
});
