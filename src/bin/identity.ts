#!/usr/bin/env node
import '../platform/compile-cache';
import { runIdentity } from '../app/identity/run-identity';
import { failStart } from '../app/process/run-process';

void runIdentity(process).catch((error: unknown) => failStart(process, error));
