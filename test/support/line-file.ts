import { openLineFile, type LineFileOptions } from '../../src/platform/line-file';

/** A line file that counts the lines which it drops and keeps its errors. */
export function openTestedLineFile(path: string, options: Partial<LineFileOptions> = {}) {
  let dropped = 0;
  const errors: string[] = [];
  const lines = openLineFile({
    path,
    maxBytes: 4_000_000,
    onDropped: () => (dropped += 1),
    onError: ({ message }) => errors.push(message),
    ...options,
  });
  return { lines, errors, dropped: () => dropped };
}
