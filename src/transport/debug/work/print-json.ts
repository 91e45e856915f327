/** A value as JSON, as `JSON.stringify` writes it, in pieces: each item of a list and each field, down to `levels`, is one. */
export function* printJson(value: unknown, levels: number): Generator<string, void, void> {
  if (levels === 0 || typeof value !== 'object' || value === null)
    yield JSON.stringify(value ?? null);
  else if (Array.isArray(value)) yield* printList(value, levels);
  else yield* printObject(value, levels);
}

function* printList(list: readonly unknown[], levels: number): Generator<string, void, void> {
  yield '[';
  for (const [at, item] of list.entries()) {
    if (at > 0) yield ',';
    yield* printJson(item, levels - 1);
  }
  yield ']';
}

function* printObject(object: object, levels: number): Generator<string, void, void> {
  let before = '{';
  for (const [name, inner] of Object.entries(object)) {
    if (inner === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    yield* printJson(inner, levels - 1);
    before = ',';
  }
  yield before === ',' ? '}' : '{}';
}
