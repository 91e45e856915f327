/** What an attempt to load something came to. */
export type Loaded<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: Error };
