import { logfmtValue } from './logfmt';

/** A line of the JSON log as one of the text log: `time=… level=… msg=…`, then the fields. */
export function toTextLine(json: string): string {
  const line = JSON.parse(json) as Record<string, unknown>;
  const { '@timestamp': time, level, '@message': message, ...fields } = line;
  const pairs = [`time=${value(time)}`, `level=${value(level)}`, `msg=${value(message)}`];
  for (const [key, field] of Object.entries(fields)) addPairs(pairs, key, field);
  return pairs.join(' ');
}

/** What is nested gets a dotted key: `error.message=… error.stack=…`. */
function addPairs(pairs: string[], key: string, field: unknown): void {
  if (typeof field !== 'object' || field === null) {
    pairs.push(`${logfmtValue(key)}=${value(field)}`);
    return;
  }
  for (const [name, inner] of Object.entries(field)) addPairs(pairs, `${key}.${name}`, inner);
}

function value(plain: unknown): string {
  return logfmtValue(String(plain));
}
