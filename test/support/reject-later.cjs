/** Preloaded into the service by a test: a rejection without a handler, once the service is up. */
setTimeout(() => {
  void Promise.reject(new Error('nobody handles this'));
}, 300);
