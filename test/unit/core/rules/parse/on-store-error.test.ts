import { parseText, rulesOf } from '../../../../support/rule-texts';

const text = (value: string, limit = 'rate_limit: {unit: hour, requests_per_unit: 1}') =>
  `domain: x\ndescriptors:\n  - key: k\n    on_store_error: ${value}\n    ${limit}\n`;

it.each(['error', 'allow', 'deny', 'local'])('on_store_error may be %s', (value) => {
  expect(rulesOf(text(value))[0]?.onStoreError).toBe(value);
});

it.each([['~'], ['""']])('on_store_error that is %s says nothing', (value) => {
  expect(rulesOf(text(value))[0]?.onStoreError).toBeUndefined();
});

it.each([
  ['Allow', 'on_store_error "Allow" is not one of error, allow, deny, local', 'bad-on-store-error'],
  ['[allow]', 'on_store_error must be a string; found a list', 'wrong-type'],
])('on_store_error: %s is a mistake', (value, message, kind) => {
  expect(parseText(text(value)).problems).toMatchObject([
    { class: kind, at: { line: 4 }, severity: 'error' },
  ]);
  expect(parseText(text(value)).problems[0]?.message).toBe(message);
});

it('on_store_error without a limit does nothing', () => {
  expect(parseText(text('allow', 'descriptors: [{key: j, value: v}]')).problems).toMatchObject([
    { class: 'idle-key', severity: 'warning' },
  ]);
});
