/** `<TEXT*TIMES>` repeats a text. */
export function repeated(text: string): string {
  return text.replace(/<([^<>]*)\*(\d+)>/g, (_, one: string, times: string) =>
    one.repeat(Number(times)),
  );
}
