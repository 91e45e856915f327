/** RFC 9110, 5.6.2 and 5.5; anything else would fail the response that it is set on. */
const NAME = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Headers by name; those that no response can carry are left out. */
export function toHeaders(
  headers: readonly { readonly key?: string; readonly value?: string }[],
): Record<string, string> {
  const good = headers.filter(({ key = '', value = '' }) => NAME.test(key) && VALUE.test(value));
  // Defines own properties, so that __proto__ is a name like any other.
  return Object.fromEntries(good.map(({ key = '', value = '' }) => [key, value]));
}
