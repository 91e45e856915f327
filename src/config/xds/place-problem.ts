import type { RuleProblem } from '../../core/rules/definition';

/** By resource: the path of each of its descriptors, by "line". */
export type PathsOf = ReadonlyMap<string, readonly string[]>;

/** The same problem with paths in its message instead of lines, which a message does not have. */
export function placeProblem(problem: RuleProblem, pathsOf: PathsOf): RuleProblem {
  const { file, line } = problem;
  const path = pathsOf.get(file)?.[line] ?? '';
  const message = withoutLines(problem, pathsOf)
    .replace(/^the file /, 'the resource ')
    .replace(/, line 0; expected one file for a domain/, '; expected one resource for a domain');
  return {
    ...problem,
    line: 0,
    column: 0,
    message: path === '' ? message : `${path}: ${message}`,
  };
}

/** The end of a message that points to the first one of two: `… on line 3 of shop; expected …`. */
const FIRST_ONE = /^(.*) on line (\d+)(?: of ([^;]*))?(;.*)?$/su;

function withoutLines({ message, class: problem, file }: RuleProblem, pathsOf: PathsOf): string {
  if (problem !== 'duplicate-descriptor') return message;
  return message.replace(
    FIRST_ONE,
    (_, start: string, line: string, other: string | undefined, end: string | undefined) => {
      const path = pathsOf.get(other ?? file)?.[Number(line)] ?? `line ${line}`;
      return `${start} at ${path}${other === undefined ? '' : ` of ${other}`}${end ?? ''}`;
    },
  );
}
