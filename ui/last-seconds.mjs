/** Seconds that a share in the banner is of: one bad second stays long enough to be read. */
export const SPAN = 10;

/** Sums over the last seconds, each of them a rate. */
export function meanOf(seconds, read) {
  return seconds.reduce((sum, figures) => sum + read(figures), 0) / Math.max(seconds.length, 1);
}

/** The figures of the last seconds, the newest last. */
export function createLastSeconds() {
  const seconds = [];
  return (figures) => {
    seconds.push(figures);
    if (seconds.length > SPAN) seconds.shift();
    return seconds;
  };
}
