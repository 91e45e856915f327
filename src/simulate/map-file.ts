import { quote, type Located } from '../fields/located';
import { isError, problemText, type RuleProblem } from '../fields/problem';
import { createReport, type Report } from '../fields/report';
import { readMapDescriptors, type KnownNames, MapFields } from '../request-maps/parse-map';
import type { MapDescriptor } from '../request-maps/request-map';
import { readRuleFile } from '../rule-sources/yaml/locate';
import { TIME_FORMATS, type TimeFormat } from './log-record';

/** How lines of an access log become requests. */
export interface LogMap {
  readonly domain: string;
  readonly time: { readonly field: string; readonly format: TimeFormat };
  readonly descriptors: readonly MapDescriptor[];
}

/** An invalid map file: every mistake with its place, one line each. */
export class MapFileError extends Error {
  override readonly name = 'MapFileError';
}

/** Any name: lines of JSON may have any fields. */
export const ANY_NAMES: KnownNames = { fields: undefined, headers: undefined };

/**
 * Reads a map file (docs/simulate/README.md). Throws `MapFileError`.
 * @param file its name, for messages
 */
export function parseMapFile(file: string, text: string, known: KnownNames): LogMap {
  const { root, problems: ofSyntax } = readRuleFile(file, text);
  const problems: RuleProblem[] = [...ofSyntax];
  const report = createReport(file, problems);
  const read = problems.some(isError) ? undefined : readMap(root, known, report);
  const mistakes = problems.filter(isError);
  if (read === undefined || mistakes.length > 0)
    throw new MapFileError(mistakes.map(problemText).join('\n'));
  return read;
}

function readMap(root: Located | undefined, known: KnownNames, report: Report): LogMap | undefined {
  if (root?.kind !== 'map') {
    const at = root?.at ?? { line: 1, column: 1 };
    report.error(at, 'wrong-type', 'expected a map with domain, time and descriptors');
    return undefined;
  }
  const map = new MapFields(root, 'in a map', ['domain', 'time', 'descriptors'], report);
  return {
    domain: map.text('domain') ?? '',
    time: readTimeOf(map, known),
    descriptors: readMapDescriptors(map, known),
  };
}

function readTimeOf(map: MapFields, { fields }: KnownNames): LogMap['time'] {
  const time = map.fieldsOf('time', 'in time', ['field', 'format']);
  const field = time?.text('field') ?? '';
  if (field !== '' && fields?.includes(field) === false)
    time?.refuse('field', `field ${quote(field)} is not one of ${fields.join(', ')}`);
  return { field, format: time?.oneOf('format', TIME_FORMATS) ?? 'rfc3339' };
}
