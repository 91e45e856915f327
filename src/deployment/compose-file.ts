import {
  fieldsOf,
  listOf,
  textOf,
  wordsOf,
  type YamlFields,
  wordsAfterProgram,
  isRateLimitService,
  toGiven,
  type Deployment,
  type GivenValue,
  type Workload,
} from './workload';

/** The services of a composition. */
export function readComposeFile(root: YamlFields): Deployment {
  const workloads: Workload[] = [];
  const skipped: string[] = [];
  if (root['include'] !== undefined) skipped.push('include is not read: name those files too');
  for (const [service, value] of Object.entries(fieldsOf(root['services']))) {
    const fields = fieldsOf(value);
    const name = `service ${JSON.stringify(service)}`;
    const env = readEnvironment(fields['environment']);
    const words = [...wordsOf(fields['entrypoint']), ...wordsOf(fields['command'])];
    const isExtended = fields['extends'] !== undefined;
    if (!isRateLimitService(textOf(fields['image']), words, env)) {
      const but = isExtended ? ' (extends is not read)' : '';
      skipped.push(`${name}: skipped, nothing says that it is a rate limit service${but}`);
      continue;
    }
    const hasEnvFile = fields['env_file'] !== undefined;
    if (hasEnvFile) skipped.push(`${name}: env_file is not read: name that file too`);
    if (isExtended) skipped.push(`${name}: extends is not read: check what compose config prints`);
    const hasMoreSettings = hasEnvFile || isExtended;
    const rest = { words: wordsAfterProgram(words), mounts: undefined, hasMoreSettings };
    workloads.push({ name, env, ...rest });
  }
  return { workloads, skipped };
}

/** A map, or a list of `NAME=value` in which a name alone takes the value of the shell. */
function readEnvironment(value: unknown): ReadonlyMap<string, GivenValue> {
  if (!Array.isArray(value))
    return new Map(Object.entries(fieldsOf(value)).map(([name, each]) => [name, toGiven(each)]));
  return new Map(
    listOf(value).map((each): [string, GivenValue] => {
      const [name = '', ...rest] = textOf(each).split('=');
      return [name, rest.length === 0 ? undefined : toGiven(rest.join('='))];
    }),
  );
}
