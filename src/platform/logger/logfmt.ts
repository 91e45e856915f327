/** Characters of a value without quotes, as in logrus. */
const PLAIN = /^[A-Za-z0-9\-._/@^+]+$/;
/** Control and format characters and line separators, which could forge, hide or reorder a line. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** A value of a `key=value` line: bare when it is simple, else quoted and escaped as in JSON. */
export function logfmtValue(text: string): string {
  return PLAIN.test(text) ? text : escapeInvisible(JSON.stringify(text));
}

/** Escapes characters that JSON leaves but a terminal or a reader of lines would obey. */
export function escapeInvisible(json: string): string {
  return json.replace(INVISIBLE, (character) => {
    const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i));
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
  });
}

/** A line of the JSON log as one of the text log: `time=… level=… msg=…`, then the fields. */
export function toTextLine(json: string): string {
  const line = JSON.parse(json) as Record<string, unknown>;
  const { '@timestamp': time, level, '@message': message, ...fields } = line;
  const pairs = [`time=${value(time)}`, `level=${value(level)}`, `msg=${value(message)}`];
  for (const [key, field] of Object.entries(fields)) addPairs(pairs, key, field);
  return pairs.join(' ');
}

/** Nested fields get a dotted key: `error.message=… error.stack=…`. */
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
