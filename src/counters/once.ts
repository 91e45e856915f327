/** Calls the function the first time, and does nothing afterwards. */
export function once<A extends readonly unknown[]>(
  act: (...args: A) => void,
): (...args: A) => void {
  let isDone = false;
  return (...args) => {
    if (isDone) return;
    isDone = true;
    act(...args);
  };
}
