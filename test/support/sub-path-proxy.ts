import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Serves another server's pages below a path, as `kubectl proxy` does; answers the address with the path. */
export async function startSubPathProxy(target: string, path: string) {
  const server = createServer((incoming, response) => {
    const { url = '', method } = incoming;
    if (!url.startsWith(`${path}/`)) {
      response.writeHead(404).end();
      return;
    }
    const outgoing = httpRequest(`${target}${url.slice(path.length)}`, { method }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    outgoing.on('error', () => response.destroy());
    response.on('close', () => outgoing.destroy());
    outgoing.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${String(port)}${path}`,
    close() {
      server.closeAllConnections();
      server.close();
      return once(server, 'close');
    },
  };
}
