import type { ParsedRules } from '../core/rules/definition';
import type { ParseOptions } from '../core/rules/parse/parse-rule-files';
import { WHOLE } from '../fields/problem';
import { toReason } from '../platform/errors';
import type { RuleFile } from './load-result';
import { createParseResources } from './xds/parse-resources';
import { readDump } from './xds/read-dump';

/** The rules of a dumped answer of a management server. */
export function parseDump(files: readonly RuleFile[], options: ParseOptions): ParsedRules {
  try {
    return createParseResources(readDump)(files, options);
  } catch (error) {
    const file = files[0]?.file ?? '';
    const message = `expected a DiscoveryResponse, its bytes or JSON: ${toReason(error)}`;
    const problem = { severity: 'error', class: 'bad-resource', file, at: WHOLE, message } as const;
    return { domains: [], problems: [problem] };
  }
}
