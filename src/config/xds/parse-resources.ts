import type { ParsedRules, RuleProblem } from '../../core/rules/definition';
import { quote } from '../../core/rules/parse/located';
import { parseRuleFiles, type RuleSource } from '../../core/rules/parse/parse-rule-files';
import { toReason } from '../../platform/errors';
import type { RuleFile } from '../load-result';
import { locateResource } from './locate-resource';
import { loadRulesDecoder, RULES_TYPE_URL, type RateLimitConfig } from './messages';
import { placeProblem, type PathsOf } from './place-problem';
import { readResources } from './read-response';

export type ParseResources = (
  files: readonly RuleFile[],
  options: { readonly mergeDomains: boolean },
) => ParsedRules;

/**
 * Decodes and checks complete states of the world: the bytes of messages whose field `resources` holds the
 * rules. Takes tens of milliseconds for thousands of rules. Throws when such a message is none; what is wrong
 * with a resource is a problem of the resource.
 */
export function createParseResources(): ParseResources {
  const decode = loadRulesDecoder();
  return (files, options) => {
    const pathsOf = new Map<string, readonly string[]>();
    const sources = files
      .flatMap(({ bytes }) => readResources(bytes))
      .map(({ typeUrl, value }, index): RuleSource => {
        if (typeUrl !== RULES_TYPE_URL) {
          const message = `the type of the resource is ${quote(typeUrl)}; expected ${RULES_TYPE_URL}`;
          return unreadable(`resource ${String(index + 1)}`, 'wrong-type', message);
        }
        return readResource(decode, value, index, pathsOf);
      });
    const { domains, problems } = parseRuleFiles(sources, options);
    return { domains, problems: problems.map((problem) => placeProblem(problem, pathsOf)) };
  };
}

function readResource(
  decode: (bytes: Buffer) => RateLimitConfig,
  value: Uint8Array,
  index: number,
  pathsOf: Map<string, readonly string[]> & PathsOf,
): RuleSource {
  const position = `resource ${String(index + 1)}`;
  try {
    const config = decode(Buffer.from(value.buffer, value.byteOffset, value.length));
    const file = nameOf(config, position, pathsOf);
    const { root, paths } = locateResource(config);
    pathsOf.set(file, paths);
    return { file, root, problems: [] };
  } catch (error) {
    const message = `the resource is not a RateLimitConfig: ${toReason(error)}`;
    return unreadable(position, 'bad-resource', message);
  }
}

/** What messages call a resource; no two are called the same. */
function nameOf({ name, domain }: RateLimitConfig, position: string, known: PathsOf): string {
  const shown = [name, domain].find((one) => one !== undefined && one !== '');
  if (shown === undefined) return position;
  return known.has(shown) ? `${shown} (${position})` : shown;
}

function unreadable(file: string, problem: string, message: string): RuleSource {
  const error: RuleProblem = {
    severity: 'error',
    class: problem,
    file,
    line: 0,
    column: 0,
    message,
  };
  return { file, root: undefined, problems: [error] };
}
