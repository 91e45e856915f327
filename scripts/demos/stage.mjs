// What every demo stands on: free ports, programs that end together, a folder that goes with them.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

export const HOST = '127.0.0.1';
const STARTS_WITHIN_MS = 20_000;
const STOPS_WITHIN_MS = 5_000;

async function listenOn(port) {
  const server = createServer().listen(port, HOST);
  await once(server, 'listening');
  const taken = server.address().port;
  server.close();
  await once(server, 'close');
  return taken;
}

/** Waits until a URL answers 2xx. */
export async function untilReady(url) {
  const before = Date.now() + STARTS_WITHIN_MS;
  while (
    !(await fetch(url).then(
      (answer) => answer.ok,
      () => false,
    ))
  ) {
    if (Date.now() > before) throw new Error(`${url} does not answer`);
    await delay(50);
  }
}

export function createStage(anyPort) {
  const folder = mkdtempSync(join(tmpdir(), 'weir-demo-'));
  const children = [];
  let isStopping = false;

  async function stop(exitCode, reason = '') {
    if (isStopping) return;
    isStopping = true;
    if (reason !== '') console.error(reason);
    // The last started is the first to go, so that nobody asks who is gone already.
    for (const child of children.reverse()) {
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) continue;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      const killer = setTimeout(() => child.kill('SIGKILL'), STOPS_WITHIN_MS);
      await ended;
      clearTimeout(killer);
    }
    rmSync(folder, { recursive: true, force: true });
    process.exit(exitCode);
  }

  return {
    folder,
    stop,
    isStopping: () => isStopping,

    /** The usual ports by their names, each another one where it is taken. */
    async choosePorts(usual) {
      const ports = {};
      for (const [name, port] of Object.entries(usual))
        ports[name] = await listenOn(anyPort ? 0 : port).catch(() => listenOn(0));
      return ports;
    },

    /** Starts a program of the demo; when it ends by itself, so does the demo. */
    start(name, program, words, env = {}) {
      const child = spawn(program, words, {
        stdio: ['ignore', 'ignore', 'pipe'],
        env: { PATH: process.env.PATH, ...env },
        // In a group of its own, so that Ctrl-C reaches only this process, which stops all in order.
        detached: true,
      });
      children.push(child);
      let lines = '';
      child.stderr.on('data', (chunk) => (lines = `${lines}${chunk}`.slice(-2_000)));
      child.once('error', (error) => void stop(1, `${name} cannot be started: ${error.message}`));
      child.once('exit', () => void stop(1, `${name} ended:\n${lines}`));
    },
  };
}
