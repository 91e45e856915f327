import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { playIdentityCase } from '../../support/ports/play-identity-case';
import { readPortCases } from '../../support/ports/read-port-cases';

const CASES = readPortCases('userinfo', readFileSync(join(__dirname, 'userinfo.txt'), 'utf8'));

it.each(CASES)('$title', async (one) => {
  expect(await playIdentityCase(one)).toEqual(one.lines);
});
