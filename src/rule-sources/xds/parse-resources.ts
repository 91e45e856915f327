import type { ParsedRules } from '../../core/rules/definition';
import { quote } from '../../fields/located';
import {
  parseRuleFiles,
  type ParseOptions,
  type RuleSource,
} from '../../core/rules/parse/parse-rule-files';
import { WHOLE, type RuleProblem } from '../../fields/problem';
import { createReport } from '../../fields/report';
import { toReason } from '../../platform/errors';
import type { RuleFile } from '../load-result';
import { locateResource } from './locate-resource';
import { loadRulesDecoder, RULES_TYPE_URL, type RateLimitConfig } from './messages';
import { readResources } from './read-response';

/**
 * Decodes and checks complete states of the world: the bytes of messages with the rules in the field `resources`. Takes tens of
 * milliseconds for thousands of rules. Throws when the bytes are not such a message; a mistake in a resource is a problem of the
 * resource. `readMessage`: the resources of a message.
 */
export function createParseResources(readMessage = readResources) {
  const decode = loadRulesDecoder();
  return (files: readonly RuleFile[], options: ParseOptions): ParsedRules => {
    const names = new Set<string>();
    const sources = files
      .flatMap(({ bytes }) => readMessage(bytes))
      .map(({ typeUrl, value }, index): RuleSource => {
        const position = `resource ${String(index + 1)}`;
        if (typeUrl === RULES_TYPE_URL) return readResource(() => decode(value), position, names);
        const message = `the type of the resource is ${quote(typeUrl)}; expected ${RULES_TYPE_URL}`;
        return unreadable(position, 'wrong-type', message);
      });
    return parseRuleFiles(sources, options);
  };
}

function readResource(
  decode: () => RateLimitConfig,
  position: string,
  names: Set<string>,
): RuleSource {
  try {
    const config = decode();
    const file = nameOf(config, position, names);
    names.add(file);
    const problems: RuleProblem[] = [];
    const root = locateResource(config, createReport(file, problems, 'resource'));
    return { file, noun: 'resource', root, problems };
  } catch (error) {
    const message = `the resource is not a RateLimitConfig: ${toReason(error)}`;
    return unreadable(position, 'bad-resource', message);
  }
}

/** A resource's unique name in messages. */
function nameOf(
  { name, domain }: RateLimitConfig,
  position: string,
  known: ReadonlySet<string>,
): string {
  const shown = [name, domain].find((one) => one !== undefined && one !== '');
  if (shown === undefined) return position;
  return known.has(shown) ? `${shown} (${position})` : shown;
}

function unreadable(file: string, problem: string, message: string): RuleSource {
  const problems = [{ severity: 'error', class: problem, file, at: WHOLE, message }] as const;
  return { file, root: undefined, problems };
}
