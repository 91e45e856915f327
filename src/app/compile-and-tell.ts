import { compileInSlices, type CompileOptions } from '../core/rules/compile';
import type { DomainDefinition } from '../core/rules/definition';
import type { Rules } from '../core/rules/rules';

/** Compiles in slices of so many entries, then tells what came of which definitions. */
export function* compileAndTell(
  domains: readonly DomainDefinition[],
  sliceSize: number,
  options: CompileOptions,
  onCompiled?: (rules: Rules, domains: readonly DomainDefinition[]) => void,
): Generator<void, Rules> {
  const rules = yield* compileInSlices(domains, sliceSize, options);
  onCompiled?.(rules, domains);
  return rules;
}
