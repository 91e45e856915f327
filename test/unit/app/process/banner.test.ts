import { banner } from '../../../../src/app/process/banner';
import { rulesOf } from '../../../support/rules';

const ADDRESSES = { grpc: '0.0.0.0:8081', http: '[::]:8080', debug: '127.0.0.1:6070' };

it('shows the first limit that holds for a value that can be typed', () => {
  const rules = rulesOf('shop', [
    { key: 'path', value: '/static/*', limit: [9, 'SECOND'] },
    { key: 'free', limit: { unlimited: true } },
    { key: 'plan', value: 'gold', rules: [{ key: 'user', limit: [5, 'HOUR'] }] },
  ]);
  const text = banner(ADDRESSES, 'memory', rules);
  expect(text).toContain(
    `curl -s localhost:8080/json -d '{"domain":"shop","descriptors":[{"entries":[{"key":"plan","value":"gold"},{"key":"user","value":"curl"}]}]}'`,
  );
  expect(text).toContain(
    '-dial_string localhost:8081 -domain shop -descriptors plan=gold,user=client',
  );
});

it('shows nothing to try without rules', () => {
  expect(banner(ADDRESSES, 'memory', undefined)).not.toContain('curl');
});
