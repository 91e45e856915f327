import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describeWithStores } from '../../support/near-stores';
import { playPortCase } from '../../support/ports/play-port-case';
import { readPortCases, type PortCase } from '../../support/ports/read-port-cases';

const CASES = readdirSync(__dirname)
  .filter((file) => file.endsWith('.txt'))
  .flatMap((file) => readPortCases(file, readFileSync(join(__dirname, file), 'utf8')));

const isNear = ({ settings }: PortCase): boolean => settings['KVSTORE_URL'] === 'near';

it.each(CASES.filter((one) => !isNear(one)))('$title', async (one) => {
  expect(await playPortCase(one)).toEqual(one.lines);
});

describeWithStores('in Redis', () => {
  it.each(CASES.filter(isNear))('$title', async (one) => {
    expect(await playPortCase(one)).toEqual(one.lines);
  });
});
