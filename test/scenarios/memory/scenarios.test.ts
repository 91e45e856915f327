import { describeScenarios } from '../../support/scenario/describe-scenarios';
import { SETUPS } from '../../support/scenario/stages';

const setup = SETUPS.memory();

describeScenarios('memory', () => setup);
