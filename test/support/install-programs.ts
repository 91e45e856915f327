import { nodeBinary } from './node-binary';
import { PROGRAMS } from './programs';

/** Before the tests: while one of them builds a program, its core and those who wait for it do nothing for the others. */
for (const find of Object.values(PROGRAMS)) find();
for (const major of [20, 22, 24] as const) nodeBinary(major);
