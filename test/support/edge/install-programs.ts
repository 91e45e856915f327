import { nodeBinary } from './node-binary';
import { PROGRAMS } from './programs';

/**
 * Before the tests: while one of them builds a program, its core and those who wait for it do nothing for the others. Words of the
 * command line choose programs; without one all are built.
 */
const chosen = process.argv.slice(2);
for (const [name, find] of Object.entries(PROGRAMS))
  if (chosen.length === 0 || chosen.includes(name)) find();
for (const major of [20, 22, 24] as const) nodeBinary(major);
