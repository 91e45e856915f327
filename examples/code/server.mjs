// A small shop whose users have a limit, without a proxy: docs/client/README.md says how to start it.
import express from 'express';
import { createRateLimiter, rateLimit } from 'weir/client';

const { PORT = '3000', RATE_LIMIT_TARGET = 'localhost:8081' } = process.env;

const limiter = createRateLimiter({
  target: RATE_LIMIT_TARGET,
  domain: 'shop',
  timeoutMs: 200,
  onError: (error) => {
    console.error(error.message);
    return 'allow';
  },
});

/** In real life the user of a session: a client can write any header. */
const descriptorsOf = (request) => [[['user', request.get('x-user') ?? 'anonymous']]];

const app = express();
app.get('/quota', async (request, response) => {
  const { limits } = await limiter.quota(descriptorsOf(request));
  response.json({ limits });
});
app.use(rateLimit(limiter, descriptorsOf));
app.get('/', (request, response) => {
  response.send('Welcome to the shop\n');
});

const server = app.listen(Number(PORT), () => {
  console.log(`the shop is open at http://localhost:${PORT}`);
});

for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    server.close(() => limiter.close());
    server.closeIdleConnections();
  });
