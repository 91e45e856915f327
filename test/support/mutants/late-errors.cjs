const { setTimeout: realTimeout } = globalThis;

/** rxjs throws what has no handler in a turn of its own: within the test that caused it, not after the last one. */
afterEach(() => new Promise((resolve) => realTimeout(resolve, 0)));
