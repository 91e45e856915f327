import { parentPort } from 'node:worker_threads';
import { serveParsing } from './loader/serve-parsing';
import { createParseResources } from './xds/parse-resources';

/** The script of the worker thread that checks the rules of a management server. */
if (parentPort !== null) serveParsing(parentPort, createParseResources());
