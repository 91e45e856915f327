// Others may have had the machine once: what misses is tried again at once, three times in all.
jest.retryTimes(2, { logErrorsBeforeRetry: true, retryImmediately: true });
