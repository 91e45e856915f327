import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { playScenario } from './play-scenario';
import { readScenarios, type Scenario } from './read-scenarios';
import type { Setup, SetupName } from './stages';

const FOLDER = join(__dirname, '../../scenarios');

const SCENARIOS = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.txt'))
  .flatMap((file) => readScenarios(file, readFileSync(join(FOLDER, file), 'utf8')));

/** A test for every scenario of test/scenarios that is for this set-up. */
export function describeScenarios(name: SetupName, setup: () => Setup): void {
  const mine = SCENARIOS.filter(({ setups }) => setups.includes(name));
  it.each(mine.map((scenario) => [scenario.title, scenario] as const))('%s', (_, scenario) =>
    expectScenario(scenario, setup()),
  );
}

async function expectScenario(scenario: Scenario, setup: Setup): Promise<void> {
  const played = await playScenario(scenario, await setup.open(scenario));
  expect(played).toEqual(scenario.steps.map(({ line }) => line));
}
