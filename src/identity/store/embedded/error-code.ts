/** Whether an error carries this code of the system: `ENOENT`. */
export function isCode(error: unknown, code: string): boolean {
  return (Object(error) as { readonly code?: unknown }).code === code;
}
