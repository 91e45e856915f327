import type { Random } from '../core/ports';

/**
 * Says yes with the same chance each time, independent of all other times. The count of noes up to the next yes is drawn
 * at once (a geometric distribution), so that a no costs one comparison.
 */
export function createSampler(rate: number, random: Random): () => boolean {
  if (rate === 0) return () => false;
  if (rate === 1) return () => true;
  const scale = 1 / Math.log1p(-rate);
  const drawNoes = () => Math.floor(Math.log1p(-random()) * scale);
  let noes = drawNoes();
  return () => {
    if (noes > 0) {
      noes -= 1;
      return false;
    }
    noes = drawNoes();
    return true;
  };
}
