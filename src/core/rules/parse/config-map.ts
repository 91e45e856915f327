import { quote, type Located, type LocatedMap } from './located';
import type { Report } from './report';

/** Whether the file is a manifest of Kubernetes around rules, which is reported as the one mistake that it is. */
export function isConfigMap(map: LocatedMap, report: Report): boolean {
  const kind = fieldOf(map, 'kind');
  if (kind?.kind !== 'scalar' || kind.text !== 'ConfigMap') return false;
  const data = fieldOf(map, 'data');
  const first = data?.kind === 'map' ? data.pairs[0]?.key : undefined;
  const name = first?.kind === 'scalar' ? `, here what ${quote(first.text)} holds` : '';
  const message = `this is a Kubernetes ConfigMap, not a rule file: take what is below data${name}`;
  report.error(kind.at, 'unknown-key', message);
  return true;
}

function fieldOf(map: LocatedMap, name: string): Located | undefined {
  return map.pairs.find(({ key }) => key.kind === 'scalar' && key.text === name)?.value;
}
