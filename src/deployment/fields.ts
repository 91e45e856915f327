export type YamlFields = Readonly<Record<string, unknown>>;

export function isMap(value: unknown): value is YamlFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function fieldsOf(value: unknown): YamlFields {
  return isMap(value) ? value : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The words of a command, from a list or a line. */
export function wordsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return value.split(/\s+/).filter((word) => word !== '');
  return listOf(value).map((word) => (typeof word === 'number' ? String(word) : textOf(word)));
}
