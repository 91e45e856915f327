import { USAGE as CLIENT_USAGE } from '../cli/options';
import { HASH_USAGE } from '../cli/hash-value';
import { USAGE as CHECK_USAGE } from '../rule-sources/check/options';
import { USAGE as SIMULATE_USAGE } from '../simulate/options';
import { completionOf } from '../platform/flags';
import { settingsHelp } from '../settings/settings-help';
import { USAGE } from './process/command-line';

export function helpText(): string {
  return `${USAGE}\n\n${settingsHelp('ratelimit')}`;
}

/** For all commands of this service; `identity` prints its own. */
export function completions(): string {
  const helps = {
    ratelimit: USAGE,
    'ratelimit-client': CLIENT_USAGE,
    'ratelimit-config-check': CHECK_USAGE,
    'ratelimit-hash-value': HASH_USAGE,
    'ratelimit-simulate': SIMULATE_USAGE,
  };
  return Object.entries(helps)
    .map(([command, help]) => completionOf(command, help))
    .join('');
}
