#!/usr/bin/env node
import '../platform/compile-cache';
import { createInterface } from 'node:readline';
import { endWithReader } from '../platform/stdio';
import { HASH_USAGE, readHashCommand } from '../cli/hash-value';

const { argv, stdin, stdout, stderr } = process;

async function run(): Promise<void> {
  const command = readHashCommand(argv.slice(2), Date.now() / 1_000);
  switch (command.kind) {
    case 'help':
      stdout.write(HASH_USAGE);
      return;
    case 'mistake':
      stderr.write(`ratelimit-hash-value: ${command.message}\n`);
      process.exitCode = 1;
      return;
    case 'hash':
      for await (const value of createInterface({ input: stdin }))
        if (value !== '') stdout.write(`${command.tokenOf(value)}\n`);
  }
}

endWithReader(process);
void run();
