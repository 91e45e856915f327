import type { RuleLevel, RuleNode, Rules } from '../../core/rules/rules';
import type { Addresses } from './open-ports';

/** For a person who started the service in a terminal: where it listens, and what to try. */
export function banner(
  { grpc, http, debug }: Addresses,
  store: string,
  rules: Rules | undefined,
): string {
  return [
    '',
    `  gRPC   ${grpc}`,
    `  HTTP   http://${http}`,
    `  debug  http://${debug}`,
    `  counts in ${store}`,
    `  live view at http://${local(debug)}/ui`,
    '',
    ...linesToTry(rules, local(grpc), local(http)),
    '',
  ].join('\n');
}

/** An address to connect to: one that listens everywhere is reached at localhost. */
function local(address: string): string {
  return address.replace(/^(0\.0\.0\.0|\[::\]):/, 'localhost:');
}

interface Entry {
  readonly key: string;
  /** Undefined: any. */
  readonly value: string | undefined;
}

/** Characters that need no quotes in a shell or in flags of ratelimit-client. */
const PLAIN = /^[\w./:@-]+$/;

function linesToTry(rules: Rules | undefined, grpc: string, http: string): readonly string[] {
  const found = firstLimit(rules);
  if (found === undefined) return [];
  const { domain } = found;
  const entriesFor = (any: string) => found.entries.map(({ key, value = any }) => ({ key, value }));
  const request = JSON.stringify({ domain, descriptors: [{ entries: entriesFor('curl') }] });
  const flags = entriesFor('client').map(({ key, value }) => `${key}=${value}`);
  return [
    '  Try the first of the rules:',
    '',
    `  curl -s ${http}/json -d '${request}'`,
    `  npx ratelimit-client -dial_string ${grpc} -domain ${domain} -descriptors ${flags.join(',')}`,
    '',
  ];
}

function firstLimit(rules: Rules | undefined) {
  for (const { domain, top } of rules?.domains.values() ?? []) {
    const entries = PLAIN.test(domain) ? entriesOf(top) : undefined;
    if (entries !== undefined) return { domain, entries };
  }
  return undefined;
}

/** The entries of the first rule with a limit and without a wildcard; undefined when there is none. */
function entriesOf(level: RuleLevel): readonly Entry[] | undefined {
  for (const { key, byValue, anyValue } of level instanceof Map ? level.values() : [level]) {
    // A secret value has another text in its segment, and does not belong in a terminal.
    const nodes: [string | undefined, RuleNode][] = [...(byValue ?? [])].filter(
      ([value, { segment }]) => segment === `${key}_${value}`,
    );
    if (anyValue !== undefined) nodes.push([undefined, anyValue]);
    for (const [value, node] of nodes) {
      const below = canBeTyped(key, value) ? entriesBelow(node) : undefined;
      if (below !== undefined) return [{ key, value }, ...below];
    }
  }
  return undefined;
}

function canBeTyped(key: string, value = ''): boolean {
  return PLAIN.test(key) && (value === '' || PLAIN.test(value));
}

function entriesBelow({ limit, children }: RuleNode): readonly Entry[] | undefined {
  if (limit !== undefined && !limit.unlimited) return [];
  return children === undefined ? undefined : entriesOf(children);
}
